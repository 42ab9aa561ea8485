import Bluetooth
import FoundationEssentials
import Glibc

/// The file `devices` in the state directory: a line for each device, such as "F0:F1:F2:F3:F4:F5 random input".
package final class MemoryFile: DeviceMemory {
  /// More than the bonds of bled.
  private static let longest = 1024
  private static let other = "other"

  private let path: String?
  private let word: String
  private var devices: [DeviceAddress: Bool] = [:]

  /// - Parameters:
  ///   - directory: nil: nothing is kept.
  ///   - word: the word for devices with the service, such as "input".
  package init(directory: String?, word: String) {
    self.word = word
    path = directory.map { "\($0)/devices" }
    guard let path, let data = try? Data(contentsOf: URL(filePath: path)) else { return }
    for line in data.prefix(Self.longest * 64).split(separator: UInt8(ascii: "\n")).prefix(Self.longest) {
      let parts = line.split(separator: UInt8(ascii: " ")).map { String(decoding: $0, as: UTF8.self) }
      guard parts.count == 3, let kind = DeviceAddress.Kind(word: parts[1]),
        let address = DeviceAddress(parts[0], kind: kind)
      else { continue }
      devices[address] = parts[2].hasSameOctets(as: word)
    }
  }

  package func hasService(_ address: DeviceAddress) -> Bool? { devices[address] }

  package func remember(_ address: DeviceAddress, hasService: Bool?) {
    guard devices[address] != hasService, hasService == nil || devices.count < Self.longest else { return }
    devices[address] = hasService
    write()
  }

  package func keep(_ kept: Set<DeviceAddress>) {
    guard devices.keys.contains(where: { !kept.contains($0) }) else { return }
    devices = devices.filter { kept.contains($0.key) }
    write()
  }

  /// A file that cannot be written costs one connection to each device at the next start.
  private func write() {
    guard let path else { return }
    let lines = devices.sorted { $0.key.value < $1.key.value }.map { address, hasService in
      "\(address) \(address.kind.word) \(hasService ? word : Self.other)\n"
    }
    try? Data(lines.joined().utf8).write(to: URL(filePath: path), options: .atomic)
  }
}
