import Bluetooth
import JSONFiles

extension Configuration {
  /// The answers to pairing requests from devices.
  public struct Pairing: Hashable, Sendable, ConfigurationPart {
    /// The answers.
    public var policy = PairingPolicy()

    static let keys = [Key.pairing]
    static let isReloaded = true
    /// More than any list of devices needs.
    private static let maximum = 256

    private enum SectionKey: String, CaseIterable, Sendable {
      case standard = "default"
      case adapters, peripherals
    }

    mutating func read(_ root: FileMembers<Key>) throws(FileError) {
      guard let section = root[.pairing] else { return }
      guard section.isObject else {
        policy.standard = try PairingPolicy.Rule(section)
        return
      }
      let members = try FileMembers(section, SectionKey.self)
      policy.standard = try members.value(.standard, default: policy.standard)
      for member in try Self.members(members[.adapters]) {
        let address = DeviceAddress(member.name, kind: .public)
        guard address != nil || member.name.utf8.count <= 32,
          member.name.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
        else { throw member.failure("name an adapter, such as \"hci0\", or give its address") }
        let rule = try PairingPolicy.Rule(member.value)
        policy.adapters[address.map { "\($0)" } ?? member.name] = rule
      }
      for member in try Self.members(members[.peripherals]) {
        guard let address = DeviceAddress(member.name, kind: .random) else {
          throw member.failure("name a device by its address, such as \"F0:F1:F2:F3:F4:F5\"")
        }
        policy.peripherals[address.value] = try PairingPolicy.Rule(member.value)
      }
    }

    private static func members(_ section: FileValue?) throws(FileError) -> [FileMember] {
      guard let section else { return [] }
      let members = try section.members()
      guard members.count <= maximum else { throw section.failure("give at most \(maximum) of them") }
      return members
    }
  }
}

extension PairingPolicy.Rule: ReadableFromFile {
  /// Reads "refuse", "just-works" or a passkey of six digits.
  public init(_ value: FileValue) throws(FileError) {
    let text = try value.text()
    if text.hasSameOctets(as: "refuse") {
      self = .refuse
    } else if text.hasSameOctets(as: "just-works") {
      self = .justWorks
    } else if text.utf8.count == 6, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = UInt32(text) {
      self = .passkey(number)
    } else {
      throw value.failure("give \"refuse\", \"just-works\", or the passkey that devices show, such as \"012345\"")
    }
  }
}
