import Bluetooth

/// The topics of one gateway, as OpenMQTTGateway names them.
package struct Topics: Hashable, Sendable {
  /// The beginning that all gateways of a site have in common, such as "home"; it may have several levels.
  package let base: String
  /// The name of this gateway, one level.
  package let gateway: String

  package init(base: String, gateway: String) {
    self.base = base
    self.gateway = gateway
  }

  private var root: String { "\(base)/\(gateway)" }

  /// "online" or, as the will, "offline"; retained.
  package var availability: String { "\(root)/LWT" }
  /// Counters of this gateway; retained.
  package var status: String { "\(root)/status" }
  /// Answers to commands that concern no device and name no topic for their answer.
  package var answers: String { "\(root)/commands/answers" }
  /// Advertisements that were not decoded, for decoders elsewhere.
  package var undecoded: String { "\(root)/BTtoMQTT/undecoded" }
  /// The commands for this gateway: a filter.
  package var commandFilter: String { "\(root)/commands/MQTTtoBT/#" }

  /// True if commands are sent to a topic: with no level below, or `config`.
  package func isCommand(_ topic: String) -> Bool {
    ["", "/config"].contains { topic.hasSameOctets(as: "\(root)/commands/MQTTtoBT\($0)") }
  }

  /// The reports and answers of a device.
  package func device(_ address: DeviceAddress) -> String { "\(root)/BTtoMQTT/\(Self.level(of: address))" }

  /// The values of a device's characteristic.
  package func value(_ address: DeviceAddress, _ characteristic: BluetoothUUID) -> String {
    "\(device(address))/\(characteristic)"
  }

  /// The reports of a device by whichever gateway: a filter.
  package func anyGateway(_ address: DeviceAddress) -> String { "\(base)/+/BTtoMQTT/\(Self.level(of: address))" }

  /// An address as a level of a topic: 12 hex digits, upper case.
  package static func level(of address: DeviceAddress) -> String {
    Hex.encode(address.littleEndian.reversed()).uppercased()
  }

  /// True if an answer may be sent to this topic: it has no wildcards, is not one of the broker's own, and no gateway
  /// accepts commands from it.
  package static func isAnswerable(_ topic: String) -> Bool {
    guard (1...longest).contains(topic.utf8.count), !topic.utf8.starts(with: "$".utf8),
      !topic.utf8.contains(where: { $0 < 0x20 || $0 == UInt8(ascii: "+") || $0 == UInt8(ascii: "#") })
    else { return false }
    let levels = topic.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
    return !levels.contains { $0.elementsEqual("commands".utf8) }
  }

  /// The longest topic that is used, in octets.
  package static let longest = 256

  /// True if a text can be levels of a topic to publish to.
  package static func isName(_ text: String, levels: ClosedRange<Int>) -> Bool {
    let octets = Array(text.utf8)
    guard (1...64).contains(octets.count), octets.first != UInt8(ascii: "$"),
      octets.allSatisfy({ $0 > 0x20 && $0 != 0x7F && $0 != UInt8(ascii: "+") && $0 != UInt8(ascii: "#") })
    else { return false }
    let parts = octets.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
    return levels.contains(parts.count) && !parts.contains(where: \.isEmpty)
  }
}
