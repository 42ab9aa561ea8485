import Bluetooth
import BluetoothCrypto

/// Packages for Nordic's Secure DFU, without a signature.
public enum TestPackage {
  /// - Parameters:
  ///   - version: The version of the firmware.
  ///   - length: Its octets.
  /// - Returns: The zip archive with one application.
  public static func octets(version: UInt8, length: Int, hardware: UInt8 = 52) -> [UInt8] {
    let firmware = firmware(length)
    let manifest = #"{"manifest": {"application": {"bin_file": "app.bin", "dat_file": "app.dat"}}}"#
    return zip([
      ("manifest.json", Array(manifest.utf8)), ("app.bin", firmware),
      ("app.dat", packet(version: version, hardware: hardware, firmware)),
    ])
  }

  /// Octets for firmware.
  public static func firmware(_ length: Int) -> [UInt8] {
    (0..<length).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ $0 >> 8) }
  }

  /// An init packet (nRF5 SDK, `dfu-cc.proto`).
  /// - Parameter kind: 0 for an application, 3 for a SoftDevice with a boot loader.
  public static func packet(
    version: UInt8, hardware: UInt8 = 52, kind: UInt8 = 0, _ firmware: [UInt8]
  ) -> [UInt8] {
    var size: [UInt8] = []
    var rest = firmware.count
    repeat {
      size.append(UInt8(rest & 0x7F) | (rest > 0x7F ? 0x80 : 0))
      rest >>= 7
    } while rest > 0
    let hash: [UInt8] = [0x08, 3, 0x12, 32] + SHA256.hash(firmware).reversed()
    let length: [UInt8] = [kind == 0 ? 0x38 : 0x28] + size
    let initial = [0x08, version, 0x10, hardware, 0x1A, 1, 0, 0x20, kind] + length + [0x42, UInt8(hash.count)] + hash
    let command = [0x08, 1, 0x12, UInt8(initial.count)] + initial
    return [0x0A, UInt8(command.count)] + command
  }

  /// A zip archive of files that are not compressed.
  public static func zip(_ files: [(name: String, octets: [UInt8])]) -> [UInt8] {
    func little(_ number: Int, _ size: Int) -> [UInt8] {
      (0..<size).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
    }
    var (octets, directory): ([UInt8], [UInt8]) = ([], [])
    for file in files {
      var checksum = CRC32()
      checksum.add(file.octets)
      let name = Array(file.name.utf8)
      let length = little(file.octets.count, 4)
      let common = little(20, 2) + little(0, 8) + little(Int(checksum.value), 4) + length + length
      let names = little(name.count, 2) + little(0, 2)
      directory += little(0x0201_4B50, 4) + little(20, 2) + common + names + little(0, 10) + little(octets.count, 4)
      directory += name
      octets += little(0x0403_4B50, 4) + common + names + name + file.octets
    }
    let count = little(files.count, 2)
    let end = little(0x0605_4B50, 4) + little(0, 4) + count + count + little(directory.count, 4)
    return octets + directory + end + little(octets.count, 4) + little(0, 2)
  }
}
