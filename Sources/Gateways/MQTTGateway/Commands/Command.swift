import AssignedValues
import BledRPC
import Bluetooth
import FoundationEssentials

/// A command to the gateway, in the members of OpenMQTTGateway.
package enum Command: Hashable, Sendable {
  /// A value of a device.
  package struct Target: Hashable, Sendable {
    package var address: DeviceAddress
    /// True if the command gives the type of the address; bled knows the type of devices that it has received.
    package var hasType: Bool
    package var service: BluetoothUUID?
    package var characteristic: BluetoothUUID
    package var form: Form
  }

  /// The form of a value in JSON.
  package enum Form: String, CaseIterable, Sendable {
    case string = "STRING"
    case hex = "HEX"
    case int = "INT"
    case float = "FLOAT"
  }

  case read(Target)
  case write(Target, [UInt8], response: Bool)
  /// Scan; actively if true.
  case scan(isActive: Bool)

  /// The reason why a text is not a command.
  package struct Failure: Error, Hashable, Sendable {
    package let message: String

    init(_ message: String) { self.message = message }
  }

  /// The longest message that is read, in octets.
  package static let longest = 8192

  private struct Members: Decodable {
    var readAddress: String?
    var readService: String?
    var readCharacteristic: String?
    var writeAddress: String?
    var writeService: String?
    var writeCharacteristic: String?
    var writeValue: JSONValue?
    /// Not part of OpenMQTTGateway: false is a write without response.
    var writeResponse: Bool?
    var form: String?
    var addressType: Int?
    var isActive: Bool?

    private enum CodingKeys: String, CodingKey {
      case readAddress = "ble_read_address"
      case readService = "ble_read_service"
      case readCharacteristic = "ble_read_char"
      case writeAddress = "ble_write_address"
      case writeService = "ble_write_service"
      case writeCharacteristic = "ble_write_char"
      case writeValue = "ble_write_value"
      case writeResponse = "ble_write_response"
      case form = "value_type"
      case addressType = "mac_type"
      case isActive = "activescan"
    }
  }

  /// Reads a message.
  package init(_ payload: [UInt8]) throws(Failure) {
    guard payload.count <= Self.longest else { throw Failure("the command has more than \(Self.longest) octets") }
    let members: Members
    do {
      members = try JSONDecoder().decode(Members.self, from: Data(payload))
    } catch {
      throw Failure("the command is not an object of JSON with members of the right types")
    }
    let type = members.addressType.map { $0 == 0 ? DeviceAddress.Kind.public : .random }
    if let address = members.readAddress {
      self = .read(
        try Self.target(address, type, members.readService, members.readCharacteristic, members.form))
    } else if let address = members.writeAddress {
      let target = try Self.target(
        address, type, members.writeService, members.writeCharacteristic, members.form)
      guard let value = members.writeValue else { throw Failure("ble_write_value is missing") }
      self = .write(target, try target.form.octets(value), response: members.writeResponse ?? true)
    } else if let isActive = members.isActive {
      self = .scan(isActive: isActive)
    } else {
      throw Failure("the command has neither ble_read_address nor ble_write_address nor activescan")
    }
  }

  private static func target(
    _ address: String, _ type: DeviceAddress.Kind?, _ service: String?, _ characteristic: String?, _ form: String?
  ) throws(Failure) -> Target {
    guard let address = DeviceAddress(address, kind: type ?? .public) else {
      throw Failure("the address is not six pairs of hex digits with colons")
    }
    guard let characteristic = characteristic.flatMap({ BluetoothUUID($0) }) else {
      throw Failure("the characteristic is not a UUID")
    }
    let uuid = service.flatMap { BluetoothUUID($0) }
    guard (uuid == nil) == (service == nil) else { throw Failure("the service is not a UUID") }
    guard let form = Form(word: form ?? Form.string.rawValue) else {
      throw Failure("value_type is not STRING, HEX, INT or FLOAT")
    }
    return Target(
      address: address, hasType: type != nil, service: uuid, characteristic: characteristic, form: form)
  }

  /// The kind that the configuration must allow.
  var kind: GatewayConfiguration.CommandKind {
    switch self {
    case .read: .read
    case .write: .write
    case .scan: .scan
    }
  }
}

extension Command.Form {
  /// The longest value of an attribute (Core 5.4, Vol 3, Part F, 3.2.9).
  private static let longest = 512

  /// The octets of a value in JSON; a number is little endian, in the fewest of 1, 2, 4 or 8 octets that hold it.
  func octets(_ value: JSONValue) throws(Command.Failure) -> [UInt8] {
    let octets: [UInt8]
    switch (self, value) {
    case (.string, .text(let text)): octets = Array(text.utf8)
    case (.hex, .text(let text)):
      guard let decoded = Hex.decode(text) else { throw Command.Failure("ble_write_value is not hex") }
      octets = decoded
    case (.int, .integer(let number)): octets = Self.octets(of: number)
    case (.int, .text(let text)):
      guard let number = Int(text.prefix(32)) else { throw Command.Failure("ble_write_value is not a whole number") }
      octets = Self.octets(of: number)
    case (.float, .number(let number)): octets = Self.octets(of: number)
    case (.float, .integer(let number)): octets = Self.octets(of: Double(number))
    default: throw Command.Failure("ble_write_value is not of the type \(rawValue)")
    }
    guard octets.count <= Self.longest else {
      throw Command.Failure("ble_write_value has more than \(Self.longest) octets")
    }
    return octets
  }

  private static func octets(of number: Int) -> [UInt8] {
    let isNegative = number < 0
    let count = [1, 2, 4].first { count in
      let bits = 8 * count
      return isNegative ? number >= -(1 << (bits - 1)) : number < 1 << bits
    }
    return (0..<(count ?? 8)).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
  }

  private static func octets(of number: Double) -> [UInt8] {
    let bits = Float(number).bitPattern
    return (0..<4).map { UInt8(truncatingIfNeeded: bits >> (8 * UInt32($0))) }
  }

  /// A value as text; hex if it has no such form.
  func text(_ octets: [UInt8]) -> JSONValue {
    let bits = octets.prefix(8).reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    switch self {
    case .hex: break
    case .string:
      if octets.isEmpty { return .text("") }
      if let text = AssignedValue.printableText(octets) { return .text(text) }
    case .int:
      if (1...7).contains(octets.count) { return .integer(Int(truncatingIfNeeded: bits)) }
    case .float:
      let number = Double(Float(bitPattern: UInt32(truncatingIfNeeded: bits)))
      if octets.count == 4, number.isFinite { return .number(number) }
    }
    return .text(Hex.encode(octets))
  }
}
