import Bluetooth
import JSONFiles

/// The content of the configuration file, `docs/mqtt.md`.
package struct GatewayConfiguration: Hashable, Sendable {
  /// The default path of the file.
  package static let defaultFile = "/etc/bled/mqtt.json"

  /// The parts of the gateway that accept commands.
  package enum CommandKind: String, CaseIterable, Sendable {
    /// Reading values of devices.
    case read
    /// Writing values to devices.
    case write
    /// Changing the scan of this gateway, until its restart.
    case scan
  }

  /// The settings of the scan.
  package struct Scan: Hashable, Sendable {
    /// True to request scan responses of devices.
    package var isActive = true
    /// The adapter; nil: all.
    package var adapter: String?
    /// In dBm: weaker reports are not published.
    package var rssi: Int?
    /// The keys of devices with encrypted advertisements.
    package var keys: [DeviceKey] = []
  }

  /// The key of a device.
  package struct DeviceKey: Hashable, Sendable {
    package var address: DeviceAddress
    package var key: [UInt8]
  }

  /// The keys of the file's outermost object.
  enum Key: String, CaseIterable, Sendable {
    case broker, base, gateway, qos, publish, undecoded, discovery, scan, devices, commands, spool
  }

  package var broker = BrokerConfiguration()
  package var topics: Topics
  package var quality = QualityOfService.atMostOnce
  package var publish = PublishPolicy.Limits()
  /// True to also publish advertisements that bled does not decode, for other decoders.
  package var publishesUndecoded = true
  /// The topic at which Home Assistant expects descriptions of sensors; nil: none are published.
  package var discovery: String? = "homeassistant"
  package var scan = Scan()
  package var devices: [SubscribedDevice] = []
  package var commands: Set<CommandKind> = []
  /// The limit of the spool, in octets.
  package var spoolLimit = 16 << 20

  /// Reads a file.
  /// - Parameter hostName: the name of this machine, for a gateway without a name of its own.
  /// - Throws: the fault of the file and its place.
  package init(file path: String, hostName: String) throws(FileError) {
    try self.init(try JSONFile.read(path), hostName: hostName)
  }

  /// Reads the content of a file.
  package init(_ octets: some Sequence<UInt8>, file: String, hostName: String) throws(FileError) {
    try self.init(try JSONFile.parse(octets, name: file), hostName: hostName)
  }

  private init(_ value: FileValue, hostName: String) throws(FileError) {
    let root = try FileMembers(value, Key.self)
    topics = try Self.topics(root, hostName)
    broker = try BrokerConfiguration(try root.value(.broker))
    quality = try root.integer(.qos, in: 0...1, default: 0) == 0 ? .atMostOnce : .atLeastOnce
    if let section = root[.publish] { try publish.read(section) }
    publishesUndecoded = try root.value(.undecoded, default: publishesUndecoded)
    if let value = root[.discovery] { discovery = try Self.discovery(value) }
    if let section = root[.scan] { try scan.read(section) }
    if let list = root[.devices] { devices = try SubscribedDevice.list(list) }
    if let list = root[.commands] {
      for element in try list.elements() { commands.insert(try element.word(CommandKind.self)) }
    }
    let megabytes = try root.integer(.spool, in: 1...1024, default: 16)
    spoolLimit = megabytes << 20
  }

  /// True if other users may not see the file: it has keys.
  package var isSecret: Bool { !scan.keys.isEmpty }

  private static func topics(_ root: FileMembers<Key>, _ hostName: String) throws(FileError) -> Topics {
    let base = try root.value(.base, default: "home")
    guard Topics.isName(base, levels: 1...4) else {
      throw root.failure(.base, "give one to four levels of a topic, such as \"home\": without spaces, + and #")
    }
    let gateway = try root.value(.gateway, default: hostName)
    guard Topics.isName(gateway, levels: 1...1) else {
      throw root.failure(.gateway, "give this gateway a name, such as \"kitchen\": without spaces, /, + and #")
    }
    return Topics(base: base, gateway: gateway)
  }

  private static func discovery(_ value: FileValue) throws(FileError) -> String? {
    if let flag = try? value.bool() { return flag ? "homeassistant" : nil }
    let topic = try value.text()
    guard Topics.isName(topic, levels: 1...4) else {
      throw value.failure("give false, or the topic of Home Assistant's discovery, such as \"homeassistant\"")
    }
    return topic
  }
}

extension PublishPolicy.Limits {
  private enum Keys: String, CaseIterable { case every, interval, devices, total }

  mutating func read(_ section: FileValue) throws(FileError) {
    let members = try FileMembers(section, Keys.self)
    let seconds = try members.number(.every, in: 0...86400, default: 60)
    every = seconds == 0 ? nil : .seconds(seconds)
    interval = try members.seconds(.interval, in: 0.1...3600, default: 1)
    devices = try members.integer(.devices, in: 16...65536, default: devices)
    total = try members.integer(.total, in: 1...10000, default: total)
  }
}

extension GatewayConfiguration.Scan {
  private enum Keys: String, CaseIterable { case active, adapter, rssi, keys }

  /// The maximum of bled.
  private static let maximumKeys = 64

  mutating func read(_ section: FileValue) throws(FileError) {
    let members = try FileMembers(section, Keys.self)
    isActive = try members.value(.active, default: isActive)
    adapter = try members.optional(.adapter) { value throws(FileError) in try value.text(atMost: 64) }
    rssi = members[.rssi] == nil ? nil : try members.integer(.rssi, in: -127...20)
    guard let object = members[.keys] else { return }
    let entries = try object.members()
    guard entries.count <= Self.maximumKeys else { throw object.failure("give at most \(Self.maximumKeys) keys") }
    for entry in entries {
      guard let address = DeviceAddress(entry.name, kind: .public) else {
        throw entry.failure("name a device by its address, such as \"54:48:E6:8F:80:A5\"")
      }
      let key = try entry.value.octets(atMost: 16)
      guard key.count == 16 else { throw entry.value.failure("give the 16 octets of the key as 32 hex digits") }
      keys.append(GatewayConfiguration.DeviceKey(address: address, key: key))
    }
  }
}
