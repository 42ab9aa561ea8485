import BledRPC
import Bluetooth
import JSONFiles
import ScenarioRules

/// The file that `bleshell serve` reads: services with their values, and their advertising. See docs/bleshell.md.
struct ServiceFile: Sendable {
  /// The advertising; if missing, the primary services are listed.
  var advertise: AdvertisingStart.Params?
  var services: [Service]
  var behaviour = Behaviour()

  private enum Keys: String, CaseIterable { case advertise, services }

  /// Reads a file of services, or a device of a scenario.
  /// - Parameters:
  ///   - path: "-": standard input.
  ///   - device: The device; nil: the only one.
  /// - Throws: the fault of the file and its place.
  init(path: String, device: String?) throws(FileError) {
    let value = try JSONFile.read(path == "-" ? "/dev/stdin" : path)
    if try ServedScenario.isOne(value) {
      self = try ServedScenario(value, device: device).file()
    } else {
      try self.init(value)
    }
  }

  init(advertise: AdvertisingStart.Params?, services: [Service], behaviour: Behaviour) {
    (self.advertise, self.services, self.behaviour) = (advertise, services, behaviour)
  }

  init(_ value: FileValue) throws(FileError) {
    let members = try FileMembers(value, Keys.self)
    advertise = try members.optional(.advertise) { value throws(FileError) in try AdvertisingStart.Params(value) }
    services = try members.required(.services)
  }

  /// The answers to requests, as a scenario describes them.
  struct Behaviour: Sendable {
    /// The source of all chance; nil: another one each time.
    var seed: UInt64?
    /// The delay of each answer.
    var responseDelay = TimeSpan(0)
    var answers: [AnswerFault] = []
  }

  struct Service: Sendable {
    var uuid: BluetoothUUID
    var primary: Bool?
    var characteristics: [Characteristic]
  }

  struct Characteristic: Sendable {
    var uuid: BluetoothUUID
    var properties: [CharacteristicProperty]
    var permissions: [CharacteristicPermission]?
    /// The shortest key of an encrypted link, in octets.
    var minimumKeySize: Int?
    /// The initial value.
    var octets: [UInt8]
    /// True: the value is fixed, and the daemon answers reads.
    var fixed: Bool?
    /// The change of the value by itself.
    var changes: Changes?
    /// The change of the value by a scenario's rule. A file of services has written values sent to subscribers.
    var rule: ValueRule? = .echo(of: nil)
    /// The time between two values for a subscriber; nil if they are sent only when they change.
    var notifyEvery: Duration?
    var descriptors: [Descriptor]?
  }

  struct Changes: Sendable {
    /// Seconds between two values.
    var every: Double
    /// The values, one after the other, repeatedly.
    var values: [HexBytes]
  }

  struct Descriptor: Sendable {
    var uuid: BluetoothUUID
    var octets: [UInt8]
  }
}

extension ServiceFile.Service: ReadableFromFile {
  private enum Keys: String, CaseIterable { case uuid, primary, characteristics }

  init(_ value: FileValue) throws(FileError) {
    let members = try FileMembers(value, Keys.self)
    uuid = try members.required(.uuid)
    primary = try members.optional(.primary)
    characteristics = try members.required(.characteristics)
  }

  /// The service as it is published: values that are not fixed stay here.
  var published: ServiceToPublish {
    ServiceToPublish(
      uuid: uuid, primary: primary,
      characteristics: characteristics.map { characteristic in
        ServiceToPublish.Characteristic(
          uuid: characteristic.uuid, properties: characteristic.properties, permissions: characteristic.permissions,
          minimumKeySize: characteristic.minimumKeySize,
          value: characteristic.fixed == true ? HexBytes(characteristic.octets) : nil,
          descriptors: characteristic.descriptors?.map { .init(uuid: $0.uuid, value: HexBytes($0.octets)) })
      })
  }
}

extension ServiceFile.Characteristic: ReadableFromFile {
  private enum Keys: String, CaseIterable {
    case uuid, properties, permissions, value, text, fixed, changes, descriptors
  }

  init(_ value: FileValue) throws(FileError) {
    let members = try FileMembers(value, Keys.self)
    uuid = try members.required(.uuid)
    properties = try members.value(.properties).words()
    permissions = try members[.permissions]?.words()
    octets = try members.octets(.value, orText: .text)
    fixed = try members.optional(.fixed)
    changes = try members.optional(.changes)
    descriptors = try members.optional(.descriptors)
  }
}

extension ServiceFile.Changes: ReadableFromFile {
  private enum Keys: String, CaseIterable { case every, values }

  init(_ value: FileValue) throws(FileError) {
    let members = try FileMembers(value, Keys.self)
    // At most a day.
    every = try members.number(.every, in: 0.01...86400)
    let list = try members.value(.values)
    values = []
    for element in try list.elements() { values.append(HexBytes(try element.octets(atMost: ValueDescription.longest))) }
    guard !values.isEmpty else { throw list.failure("this is empty: give at least one value") }
  }
}

extension ServiceFile.Descriptor: ReadableFromFile {
  private enum Keys: String, CaseIterable { case uuid, value, text }

  init(_ value: FileValue) throws(FileError) {
    let members = try FileMembers(value, Keys.self)
    uuid = try members.required(.uuid)
    octets = try members.octets(.value, orText: .text)
  }
}

extension FileValue {
  /// A list of words.
  func words<Word: Vocabulary & RawRepresentable>() throws(FileError) -> [Word]
  where Word.RawValue == String {
    var words: [Word] = []
    for element in try elements() { words.append(try element.word()) }
    return words
  }
}

extension FileMembers {
  /// A value in hex, or as text; empty if there is neither.
  func octets(_ name: Name, orText textName: Name) throws(FileError) -> [UInt8] {
    if let value = self[name] { return try value.octets(atMost: ValueDescription.longest) }
    guard let value = self[textName] else { return [] }
    let octets = Array(try value.text().utf8)
    guard octets.count <= ValueDescription.longest else {
      throw value.failure("the text is longer than \(ValueDescription.longest) octets: shorten it")
    }
    return octets
  }
}

extension AdvertisingStart.Params {
  private enum Keys: String, CaseIterable {
    case adapter, name, services, serviceData, manufacturerData, appearance, connectable, interval, extended
  }

  /// Reads the members of `advertising.start`, under the same names.
  fileprivate init(_ value: FileValue) throws(FileError) {
    let members = try FileMembers(value, Keys.self)
    self.init(
      adapter: try members.optional(.adapter), name: try members.optional(.name),
      services: try members.optional(.services),
      appearance: try members.optional(.appearance) { value throws(FileError) in try value.integer(in: 0...0xFFFF) },
      connectable: try members.optional(.connectable),
      interval: try members.optional(.interval) { value throws(FileError) in try value.number(in: 0.02...10.24) })
    extended = try members.optional(.extended)
    if let data = members[.manufacturerData] { manufacturerData = HexBytes(try data.octets(atMost: Self.longestData)) }
    guard let data = members[.serviceData] else { return }
    serviceData = [:]
    for member in try data.members() {
      serviceData?[member.name] = HexBytes(try member.value.octets(atMost: Self.longestData))
    }
  }

  /// The limit for advertising data (Core 5.4, Vol 4, Part E, 7.8.54).
  private static let longestData = 1650
}
