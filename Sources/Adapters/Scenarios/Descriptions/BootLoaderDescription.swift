import Bluetooth
import GATT
import JSONFiles
import NordicDFU
import ScenarioRules

/// A device with a boot loader for Nordic's Secure DFU.
package struct BootLoaderDescription: ReadableFromFile, Sendable {
  /// The way from the application into the boot loader.
  package enum Entry: String, CaseIterable, Sendable {
    /// By a request; the boot loader has the next address, and no bonds.
    case address
    /// By a request over an encrypted link; the boot loader keeps address and bonds.
    case bonds
    /// By hand: the device has no application.
    case button
  }

  /// The faults. Each happens once, but for `silence`.
  package struct Faults: ReadableFromFile, Sendable {
    /// True if the first request for the boot loader restarts the application.
    package var start = false
    /// The octet of the firmware at which it disconnects; nil for never.
    var disconnectAt: Int?
    /// True if the first object of the firmware is stored with another octet.
    var damage = false
    /// True if the first object of the firmware is not executed.
    var execution = false
    /// The extended error for the first init packet; nil for none.
    package var refusal: UInt8?
    /// True if it restarts without an answer.
    var silence = false

    package init() {}

    private enum Keys: String, CaseIterable { case start, disconnectAt, damage, execution, refusal, silence }

    package init(_ value: FileValue) throws(FileError) {
      let members = try FileMembers(value, Keys.self)
      start = try members.value(.start, default: false)
      disconnectAt = try members.optional(.disconnectAt) { value throws(FileError) in
        try value.integer(in: 1...Self.longest)
      }
      damage = try members.value(.damage, default: false)
      execution = try members.value(.execution, default: false)
      refusal = try members.optional(.refusal) { value throws(FileError) in try value.integer(in: 0...255) }
      silence = try members.value(.silence, default: false)
    }

    fileprivate static let longest = 16 << 20
  }

  package var entry: Entry
  /// The version of the application.
  package var version: UInt32
  /// The number of the hardware.
  package var hardware: UInt32
  /// The maximum length of an object of the firmware.
  var objectLength: Int
  /// The time that each restart takes.
  var restartTime: TimeSpan
  package var faults: Faults

  private enum Keys: String, CaseIterable { case entry, version, hardware, objectLength, restartTime, faults }

  package init(_ value: FileValue) throws(FileError) {
    let members = try FileMembers(value, Keys.self)
    entry = try members.word(.entry, default: .address)
    version = try members.integer(.version, in: 0...UInt32.max, default: 1)
    hardware = try members.integer(.hardware, in: 0...UInt32.max, default: 52)
    objectLength = try members.integer(.objectLength, in: 64...65536, default: 4096)
    restartTime = try members.value(.restartTime, default: TimeSpan(0.5))
    faults = try members.optional(.faults) ?? Faults()
  }

  /// The name that a boot loader without bonds advertises, unless it was given another.
  package static let name = "DfuTarg"

  /// Its service in the application or in the boot loader.
  func service(inBootLoader: Bool) -> ServiceDescription {
    let characteristics: [CharacteristicDescription]
    if inBootLoader {
      characteristics = [
        Self.characteristic(DFUService.controlPoint, [.write, .notify]),
        Self.characteristic(DFUService.packet, [.writeWithoutResponse]),
      ]
    } else if entry == .bonds {
      var security = SecurityDescription()
      (security.write, security.subscribe) = (.encrypted, .encrypted)
      characteristics = [Self.characteristic(DFUService.buttonlessWithBonds, [.write, .indicate], security)]
    } else {
      characteristics = [Self.characteristic(DFUService.buttonless, [.write, .indicate])]
    }
    return ServiceDescription(uuid: DFUService.uuid, isPrimary: true, includes: [], characteristics: characteristics)
  }

  private static func characteristic(
    _ uuid: BluetoothUUID, _ properties: CharacteristicProperties, _ security: SecurityDescription = .init()
  ) -> CharacteristicDescription {
    CharacteristicDescription(
      uuid: uuid, properties: properties, value: ValueDescription(template: [], rule: nil), descriptors: [],
      security: security)
  }
}

extension DeviceDescription {
  /// Its address, and that of its boot loader if it is another.
  package var addresses: [DeviceAddress] { [address] + (separateBootLoader.map { [$0.address] } ?? []) }

  /// The device that the boot loader of this one is, if it has an address of its own.
  package var separateBootLoader: DeviceDescription? {
    guard let bootLoader, bootLoader.entry == .address, !isInBootLoader else { return nil }
    var other = self
    other.name = BootLoaderDescription.name
    other.address = DFUService.bootLoaderAddress(of: address)
    (other.isInBootLoader, other.privateAddress, other.firmware, other.echoPSM) = (true, nil, nil, nil)
    other.advertise(BootLoaderDescription.name)
    return other
  }

  /// Advertises the service of the boot loader, and a name.
  package mutating func advertise(_ name: String) {
    let content = AdvertisingContent(name: name, serviceUUIDs: [DFUService.uuid])
    if let packed = try? content.packed() { (data, scanResponse) = (packed.data, packed.scanResponse) }
  }
}
