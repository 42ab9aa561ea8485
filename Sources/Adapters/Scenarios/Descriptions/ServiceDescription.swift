import Bluetooth
import JSONFiles
import GATT
import ScenarioRules

/// A service of a simulated device.
package struct ServiceDescription: ReadableFromFile, Hashable, Sendable {
  var uuid: BluetoothUUID
  var isPrimary: Bool
  /// The included services; they precede it.
  var includes: [BluetoothUUID]
  var characteristics: [CharacteristicDescription]
}

extension ServiceDescription {
  private enum Keys: String, CaseIterable { case uuid, primary, includes, characteristics }

  package init(_ value: FileValue) throws(FileError) {
    let members = try FileMembers(value, Keys.self)
    uuid = try members.required(.uuid)
    isPrimary = try members.value(.primary, default: true)
    includes = try members.value(.includes, default: [])
    characteristics = try members.value(.characteristics, default: [])
  }
}

/// A characteristic of a simulated device.
struct CharacteristicDescription: ReadableFromFile, Hashable, Sendable {
  var uuid: BluetoothUUID
  var properties: CharacteristicProperties
  var value: ValueDescription
  /// The time between two notifications or indications to a subscriber; nil if the value is sent only when it is
  /// written.
  var notifyEvery: Duration?
  var descriptors: [DescriptorDescription]
  /// The required protection of a link.
  var security: SecurityDescription
}

extension CharacteristicDescription {
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

  private enum Keys: String, CaseIterable {
    case uuid, properties, value, text, length, rule, notifyEvery, descriptors, security
  }

  init(_ value: FileValue) throws(FileError) {
    let members = try FileMembers(value, Keys.self)
    uuid = try members.required(.uuid)
    properties = members[.properties] == nil ? .read : []
    for word in try members[.properties]?.elements() ?? [] { properties.formUnion(try word.word(Property.self).bits) }
    notifyEvery = try members.optional(.notifyEvery) { value throws(FileError) in
      try value.seconds(in: 0.001...86400)
    }
    self.value = ValueDescription(
      template: try members.template(value: .value, text: .text, length: .length), rule: try members.optional(.rule))
    descriptors = try members.value(.descriptors, default: [])
    security = try members.optional(.security) ?? SecurityDescription()
    try members.check(
      self.value.rule, .rule, notifyEvery: .notifyEvery,
      isWritable: !properties.isDisjoint(with: [.write, .writeWithoutResponse]),
      isSubscribable: !properties.isDisjoint(with: [.notify, .indicate]))
  }
}

extension CharacteristicDescription {
  /// The required protection for reading and writing the value.
  var permissions: AttributePermissions {
    AttributePermissions(
      read: properties.contains(.read) ? security.read : nil,
      write: properties.isDisjoint(with: [.write, .writeWithoutResponse]) ? nil : security.write)
  }

  /// The descriptors that are given, and the configuration where it is protected.
  var allDescriptors: [DescriptorDefinition] {
    let given = descriptors.map { DescriptorDefinition(uuid: $0.uuid, value: .stored($0.value)) }
    guard !properties.isDisjoint(with: [.notify, .indicate]), !given.contains(where: { $0.uuid == 0x2902 }) else {
      return given
    }
    return given + [
      DescriptorDefinition(
        uuid: 0x2902, permissions: AttributePermissions(read: .open, write: security.subscribe),
        value: .clientConfiguration)
    ]
  }
}

/// A descriptor with a fixed value.
struct DescriptorDescription: ReadableFromFile, Hashable, Sendable {
  var uuid: BluetoothUUID
  var value: [UInt8]

  private enum Keys: String, CaseIterable { case uuid, value, text, length }

  init(_ value: FileValue) throws(FileError) {
    let members = try FileMembers(value, Keys.self)
    uuid = try members.required(.uuid)
    self.value = try members.template(value: .value, text: .text, length: .length)
  }
}
