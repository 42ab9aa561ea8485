import Bluetooth
import JSONFiles

/// A device to which the gateway stays connected, for the values of some of its characteristics.
package struct SubscribedDevice: Hashable, Sendable {
  /// A characteristic.
  package struct Characteristic: Hashable, Sendable {
    package let service: BluetoothUUID?
    package let characteristic: BluetoothUUID
  }

  package let address: DeviceAddress
  /// True if the type of the address is given; bled knows the type of devices that it has received.
  package let hasType: Bool
  /// The name in its messages.
  package let name: String?
  package let characteristics: [Characteristic]

  /// The device in the log.
  var title: String { name.map { "\($0) (\(address))" } ?? "\(address)" }

  private enum Keys: String, CaseIterable { case address, addressType, name, subscribe }
  private enum PathKeys: String, CaseIterable { case service, characteristic }

  /// More than an adapter has links for.
  private static let maximum = 64
  private static let maximumCharacteristics = 32

  static func list(_ list: FileValue) throws(FileError) -> [SubscribedDevice] {
    let elements = try list.elements()
    guard elements.count <= maximum else { throw list.failure("give at most \(maximum) devices") }
    var devices: [SubscribedDevice] = []
    for element in elements {
      let device = try SubscribedDevice(element)
      guard !devices.contains(where: { $0.address.value == device.address.value }) else {
        throw element.failure("this device is in the list already: name all its characteristics there")
      }
      devices.append(device)
    }
    return devices
  }

  private init(_ value: FileValue) throws(FileError) {
    let members = try FileMembers(value, Keys.self)
    let kind = try members.optional(.addressType) { value throws(FileError) in
      try value.word(DeviceAddress.Kind.allCases, name: { "\($0)" })
    }
    guard let address = DeviceAddress(try members.value(.address).text(), kind: kind ?? .public) else {
      throw members.failure(.address, "give six pairs of hex digits, such as \"C0:DE:00:00:00:01\"")
    }
    self.address = address
    hasType = kind != nil
    name = try members.optional(.name) { value throws(FileError) in try value.text(atMost: 64) }
    let list = try members.value(.subscribe)
    var characteristics: [Characteristic] = []
    for element in try list.elements() {
      if element.isObject {
        let path = try FileMembers(element, PathKeys.self)
        characteristics.append(
          Characteristic(service: try path.optional(.service), characteristic: try path.required(.characteristic)))
      } else {
        characteristics.append(Characteristic(service: nil, characteristic: try BluetoothUUID(element)))
      }
    }
    guard (1...Self.maximumCharacteristics).contains(characteristics.count) else {
      throw list.failure("give 1 to \(Self.maximumCharacteristics) characteristics, such as [\"2A37\"]")
    }
    self.characteristics = characteristics
  }
}
