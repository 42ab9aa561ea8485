import Adapter
import Bluetooth
import JSONFiles

/// The content of the simulated air: the adapter itself, devices to find and connect to, phones that visit our
/// advertisements, and timed events. `docs/simulator.md` describes the file.
public struct Scenario: Sendable {
  /// The source of its devices' keys and of all chance; nil if the file names none.
  public private(set) var seed: UInt64?
  /// The clock; nil for the machine's.
  public private(set) var clock: SimulationClock?
  package var adapter: AdapterDescription
  package var devices: [DeviceDescription]
  package var phones: [PhoneDescription]
  package var events: [ScenarioEvent]

  /// Reads a scenario file: JSON with comments and trailing commas (JSON5).
  /// - Throws: the fault of the file and its place.
  public init(contentsOf path: String) throws(FileError) { self = try Scenario(try JSONFile.read(path)) }

  /// Reads a scenario from text in the format of the file.
  /// - Parameter name: stands for the file in messages.
  /// - Throws: the fault of the text and its place.
  public init(json text: String, name: String = "scenario") throws(FileError) {
    self = try Scenario(try JSONFile.parse(text.utf8, name: name))
  }

  private enum Keys: String, CaseIterable { case adapter, devices, phones, events, seed, clock }

  /// Reads a scenario; every part of it may be missing.
  /// - Throws: the fault and its place.
  private init(_ value: FileValue) throws(FileError) {
    let members = try FileMembers(value, Keys.self)
    seed = try members.optional(.seed) { value throws(FileError) in
      UInt64(try value.integer(in: 0...Int64(1) << 53))
    }
    clock = try members.optional(.clock) { value throws(FileError) in try SimulationClock(value) }
    adapter = try members.optional(.adapter) ?? AdapterDescription()
    devices = try members.value(.devices, default: [])
    phones = try members.value(.phones, default: [])
    events = try members.value(.events, default: [])
    var seen: Set<DeviceAddress> = []
    for address in devices.flatMap(\.addresses) + phones.map(\.address) where !seen.insert(address).inserted {
      throw members.failure(.devices, "two devices have the address \(address): give each its own")
    }
    let called = Self.counts(of: devices.map(\.name))
    let visiting = Self.counts(of: phones.map(\.name))
    for event in events {
      guard let name = event.device else { continue }
      let visitors = event.action == .loseKeys ? visiting[OctetText(name), default: 0] : 0
      switch called[OctetText(name), default: 0] + visitors {
      case 0: throw members.failure(.events, "there is no device \"\(name)\": name one of \"devices\"")
      case 1: break
      default:
        throw members.failure(.events, "several devices have the name \"\(name)\": give each of them its own")
      }
    }
  }

  private static func counts(of names: [String]) -> [OctetText: Int] {
    Dictionary(names.map { (OctetText($0), 1) }, uniquingKeysWith: +)
  }
}

/// The properties of the simulated controller.
package struct AdapterDescription: ReadableFromFile, Sendable {
  /// Its address; nil for one derived from the adapter's name.
  package var address: DeviceAddress?
  /// Its start time; nil for the usual time.
  package var startDelay: Duration?
  /// The largest ATT MTU of its links.
  package var mtu = 517
  /// Maximum links.
  package var links = 64
  /// Maximum advertisements at once.
  package var advertisingSets = 4
  /// Maximum octets of an advertisement.
  package var advertisingDataLength = 31
  /// Maximum packets of each side in one connection event.
  package var packetsPerEvent = 6
  /// The features of its radio on a link.
  package var radio = RadioDescription()

  package init() {}

  private enum Keys: String, CaseIterable {
    case address, addressType, startDelay, mtu, links, advertisingSets, advertisingDataLength, packetsPerEvent
    case radio
  }

  package init(_ value: FileValue) throws(FileError) {
    let members = try FileMembers(value, Keys.self)
    address = try members.address(.address, type: .addressType)
    startDelay = try members.optional(.startDelay) { value throws(FileError) in
      .seconds(try value.number(in: 0...60))
    }
    mtu = try members.integer(.mtu, in: 23...517, default: mtu)
    links = try members.integer(.links, in: 0...1000, default: links)
    advertisingSets = try members.integer(.advertisingSets, in: 0...255, default: advertisingSets)
    advertisingDataLength = try members.integer(.advertisingDataLength, in: 31...1650, default: advertisingDataLength)
    packetsPerEvent = try members.integer(.packetsPerEvent, in: 1...1000, default: packetsPerEvent)
    radio = try members.optional(.radio) ?? radio
  }

  /// True if it has extended and periodic advertising.
  private var isExtended: Bool { advertisingDataLength > 31 }

  /// Its address, or else one derived from the adapter's name: public and locally administered.
  package func address(ofAdapter id: String) -> DeviceAddress {
    if let address { return address }
    let hash = id.utf8.reduce(0xCBF2_9CE4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
    return DeviceAddress(value: 0x0200_0000_0000 | hash & 0xFF_FFFF_FFFF, kind: .public)
  }

  /// Completes the information of an adapter that is on.
  package func complete(_ information: inout AdapterInformation, address: DeviceAddress) {
    information.address = address
    information.name = "simulated"
    // The company identifier of the Linux Foundation, for lack of a manufacturer.
    information.company = 0x05F1
    // Core 5.4.
    information.version = 13
    information.phys = radio.phys
    information.longestPacket = radio.longestPacket
    information.maximumAdvertisingSets = advertisingSets
    information.maximumAdvertisingDataLength = advertisingDataLength
    information.hasExtendedAdvertising = isExtended
    information.hasPeriodicAdvertising = isExtended
    information.hasPeriodicResponses = isExtended
    information.canSynchronise = isExtended
    information.canRespond = isExtended
  }

  /// The advertisements that the adapter can send when it is on.
  package func advertisingCapabilities(address: DeviceAddress) -> AdvertisingCapabilities {
    var capabilities = AdvertisingCapabilities(
      isExtended: isExtended, dataLength: advertisingDataLength, phys: radio.phys, address: address,
      hasPeriodic: isExtended, selectsCoding: isExtended)
    capabilities.hasResponses = isExtended
    return capabilities
  }
}

/// Something that happens at a set time after the adapter was first started.
package struct ScenarioEvent: ReadableFromFile, Sendable {
  package enum Action: String, CaseIterable, Sendable {
    /// The adapter is unplugged, or the device leaves the air.
    case vanish
    /// The adapter or the device is back.
    case comeBack
    /// Another program switches the adapter's power off.
    case powerOff
    /// Another program switches the adapter's power on.
    case powerOn
    /// The device or phone loses the keys of all its bonds.
    case loseKeys
  }

  package var time: Duration
  package var action: Action
  /// The name of the affected device or phone; nil for the adapter.
  package var device: String?

  private enum Keys: String, CaseIterable { case at, action, device }

  package init(_ value: FileValue) throws(FileError) {
    let members = try FileMembers(value, Keys.self)
    time = try members.seconds(.at, in: 0...31_536_000)
    action = try members.word(.action)
    device = try members.optional(.device)
    if device == nil, action == .loseKeys {
      throw members.failure(.action, "the adapter has no keys of its own: name a \"device\" that loses its keys")
    }
    if device != nil, action == .powerOff || action == .powerOn {
      throw members.failure(.action, "a device can only vanish and comeBack: leave \"device\" out for the adapter")
    }
  }
}

extension FileMembers {
  /// The address of a device or a phone, with its type, "public" or "random".
  package func address(of owner: String, _ name: Name, type: Name) throws(FileError) -> DeviceAddress {
    guard let address = try address(name, type: type) else {
      throw failure(name, "this is missing: give the \(owner) an address such as \"C0:DE:00:00:00:01\"")
    }
    return address
  }

  /// The lifetime of a private address.
  package func rotation(_ name: Name) throws(FileError) -> Duration? {
    try optional(name) { value throws(FileError) in try value.seconds(in: 1...3600) }
  }

  /// An optional address, with its type.
  package func address(_ name: Name, type: Name) throws(FileError) -> DeviceAddress? {
    let kind = try self[type]?.word(DeviceAddress.Kind.allCases) { "\($0)" } ?? .public
    guard let value = self[name] else { return nil }
    guard let address = DeviceAddress(try value.text(), kind: kind) else {
      throw value.failure("this is not an address: give six pairs of hex digits with colons between them")
    }
    return address
  }
}
