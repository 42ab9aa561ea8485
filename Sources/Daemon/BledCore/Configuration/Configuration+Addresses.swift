import Bluetooth
import JSONFiles

extension Configuration {
  /// The public addresses for controllers that the kernel does not use because they have none.
  public struct PublicAddresses: Hashable, Sendable, ConfigurationPart {
    /// By adapter name, such as "hci0".
    public var byAdapter: [String: DeviceAddress] = [:]

    static let keys = [Key.publicAddresses]
    /// More than any list of controllers needs.
    private static let maximum = 256

    mutating func read(_ root: FileMembers<Key>) throws(FileError) {
      guard let section = root[.publicAddresses] else { return }
      let members = try section.members()
      guard members.count <= Self.maximum else { throw section.failure("give at most \(Self.maximum) addresses") }
      for member in members {
        guard let number = UInt16(member.name.dropFirst(3)), member.isNamed("hci\(number)") else {
          throw member.failure("name an adapter by its number, such as \"hci0\"")
        }
        let remedy = "give a public address, such as \"F0:F1:F2:F3:F4:F5\""
        let text: String = try member.value.read(orSay: remedy)
        guard let address = DeviceAddress(text, kind: .public), address.value != 0 else {
          throw member.value.failure(remedy)
        }
        guard byAdapter.updateValue(address, forKey: member.name) == nil else {
          throw member.failure("this adapter has an address already")
        }
      }
    }
  }
}
