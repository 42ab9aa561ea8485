import BledRPC
import Bluetooth

/// The MIDI I/O characteristic of a device (MIDI over Bluetooth LE 1.0).
struct MIDICharacteristic: Hashable {
  /// 03B80E5A-EDE8-4B33-A751-6CE34EC4C700.
  static let service = BluetoothUUID(high: 0x03B8_0E5A_EDE8_4B33, low: 0xA751_6CE3_4EC4_C700)
  /// 7772E5DB-3868-4112-A1A9-F2669D106BF3.
  static let uuid = BluetoothUUID(high: 0x7772_E5DB_3868_4112, low: 0xA1A9_F266_9D10_6BF3)

  let handle: UInt16
  /// The Device Name; nil if the device has none.
  let name: UInt16?
  /// Whether it lacks writes without response, which devices should have.
  let needsResponse: Bool

  /// Finds it; nil: the device has none.
  init?(_ services: [ServiceDescription]) {
    let characteristics = services.filter { $0.uuid == Self.service }.flatMap { $0.characteristics ?? [] }
    guard let found = characteristics.first(where: { $0.uuid == Self.uuid }) else { return nil }
    handle = found.handle
    name = services.flatMap { $0.characteristics ?? [] }.first { $0.uuid == 0x2A00 }?.handle
    needsResponse = !found.properties.contains { $0.known == .writeWithoutResponse }
  }
}
