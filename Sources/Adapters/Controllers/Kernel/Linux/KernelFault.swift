import CBlueZ
import Glibc

/// Kernel bugs that are worked around.
enum KernelFault {
  /// Whether the kernel uses freed memory when the last socket of a link is closed after the link's end and nothing was
  /// ever received on it (docs/troubles.md): true for the 6.1 series, of which some do.
  static let endsWithSilentLinks = release.hasPrefix("6.1.")

  /// Whether the kernel gives a device credits for packets of a channel that were not read, and drops them when it has
  /// no room (before 6.10).
  static let givesCreditsUnread = isBefore(6, 10)

  /// Sets how much may wait to be read on a channel.
  static func setReceiveBuffer(of channel: Descriptor) {
    // Such kernels give credits for unread packets; this is the room until they drop them.
    if givesCreditsUnread { _ = cbz_set_receive_buffer(channel.number, 1 << 20) }
  }

  private static func isBefore(_ major: Int, _ minor: Int) -> Bool {
    let numbers = release.split(separator: ".").prefix(2).compactMap { Int($0) }
    return numbers.count == 2 && numbers.lexicographicallyPrecedes([major, minor])
  }

  private static var release: String {
    var name = utsname()
    guard uname(&name) == 0 else { return "" }
    return withUnsafeBytes(of: name.release) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
  }
}
