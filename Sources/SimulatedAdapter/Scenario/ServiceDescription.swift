import Bluetooth
import GATT

/// A service of a simulated device.
struct ServiceDescription: Decodable, Sendable {
  var uuid: BluetoothUUID
  var isPrimary: Bool
  /// The services it includes; they stand before it.
  var includes: [BluetoothUUID]
  var characteristics: [CharacteristicDescription]

  private enum Keys: String, CodingKey, CaseIterable { case uuid, primary, includes, characteristics }

  init(from decoder: any Decoder) throws {
    let members = try Members(decoder, Keys.self)
    uuid = try members.required(.uuid)
    isPrimary = try members.value(.primary, default: true)
    includes = try members.value(.includes, default: [])
    characteristics = try members.value(.characteristics, default: [])
  }
}

/// A characteristic of a simulated device.
struct CharacteristicDescription: Decodable, Sendable {
  var uuid: BluetoothUUID
  var properties: CharacteristicProperties
  var value: ValueDescription
  /// The time between two notifications or indications to a subscriber; nil if the value is sent only when it is written.
  var notifyEvery: Duration?
  var descriptors: [DescriptorDescription]

  private enum Property: String, CaseIterable {
    case read, writeWithoutResponse, write, notify, indicate

    var bits: CharacteristicProperties {
      switch self {
      case .read: .read
      case .writeWithoutResponse: .writeWithoutResponse
      case .write: .write
      case .notify: .notify
      case .indicate: .indicate
      }
    }
  }

  private enum Keys: String, CodingKey, CaseIterable {
    case uuid, properties, value, text, length, rule, notifyEvery, descriptors
  }

  init(from decoder: any Decoder) throws {
    let members = try Members(decoder, Keys.self)
    uuid = try members.required(.uuid)
    properties = []
    for word in try members.value(.properties, default: ["read"]) {
      guard let property = Property(rawValue: word) else {
        let words = Property.allCases.map(\.rawValue).joined(separator: ", ")
        throw members.failure(.properties, "\"\(word)\" is none of these: \(words).")
      }
      properties.formUnion(property.bits)
    }
    if members.contains(.notifyEvery) {
      guard !properties.isDisjoint(with: [.notify, .indicate]) else {
        throw members.failure(
          .notifyEvery, "nobody can subscribe to this: add \"notify\" or \"indicate\" to the properties.")
      }
      notifyEvery = try members.seconds(.notifyEvery, in: 0.001...86400, default: nil)
    }
    value = ValueDescription(
      template: try members.template(value: .value, text: .text, length: .length), rule: try members.optional(.rule))
    descriptors = try members.value(.descriptors, default: [])
    guard let rule = value.rule, case .number(let number) = rule else { return }
    guard properties.isDisjoint(with: [.write, .writeWithoutResponse]) else {
      throw members.failure(
        .rule, "a value that moves by itself cannot be written: take \"write\" from the properties.")
    }
    guard number.offset + number.format.size <= ValueDescription.longest else {
      throw members.failure(.rule, "the number ends behind octet \(ValueDescription.longest): give a smaller \"at\".")
    }
  }
}

/// A descriptor with a fixed value.
struct DescriptorDescription: Decodable, Sendable {
  var uuid: BluetoothUUID
  var value: [UInt8]

  private enum Keys: String, CodingKey, CaseIterable { case uuid, value, text, length }

  init(from decoder: any Decoder) throws {
    let members = try Members(decoder, Keys.self)
    uuid = try members.required(.uuid)
    value = try members.template(value: .value, text: .text, length: .length)
  }
}

extension Members {
  /// A value written as hex or as text, repeated up to a length.
  fileprivate func template(value: Key, text: Key, length: Key) throws -> [UInt8] {
    guard !(contains(value) && contains(text)) else {
      throw failure(text, "the value is there already: give either \"value\" or \"text\".")
    }
    let limit = ValueDescription.longest
    let octets = try optional(text, String.self).map { Array($0.utf8) } ?? octets(value, atMost: limit) ?? []
    guard octets.count <= limit else { throw failure(text, "the text is longer than \(limit) octets: shorten it.") }
    guard contains(length) else { return octets }
    let count = try integer(length, in: 0...limit, default: nil)
    return octets.isEmpty ? Array(repeating: 0, count: count) : (0..<count).map { octets[$0 % octets.count] }
  }
}
