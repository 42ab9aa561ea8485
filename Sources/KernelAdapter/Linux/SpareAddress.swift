import Adapter
import Glibc

/// A static random address for controllers that have no address of their own (Core 5.4, Vol 6, Part B, 1.3.2.1). It is
/// derived from the machine's identifier, so that it stays the same.
enum SpareAddress {
  static func make(for selector: AdapterSelector) -> UInt64 {
    var octets = Array(selector.description.utf8)
    if let file = fopen("/etc/machine-id", "re") {
      var buffer = [UInt8](repeating: 0, count: 64)
      octets += buffer.prefix(fread(&buffer, 1, buffer.count, file))
      fclose(file)
    } else {
      octets += (0..<16).map { _ in UInt8.random(in: 0...255) }
    }
    // FNV-1a: the identifier itself must not be visible on the air.
    var hash: UInt64 = 0xCBF2_9CE4_8422_2325
    for octet in octets { hash = (hash ^ UInt64(octet)) &* 0x0000_0100_0000_01B3 }
    return (hash ^ hash >> 24) & 0x3FFF_FFFF_FFFF | 0xC000_0000_0000
  }
}
