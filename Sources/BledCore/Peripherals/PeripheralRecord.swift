import BledRPC
import Bluetooth
import FoundationEssentials

/// The document `peripherals` of the store: the devices that somebody connected to, the last used first.
struct PeripheralRecords: Codable, Hashable, Sendable {
  var peripherals: [PeripheralRecord] = []
}

/// What the store has of a device.
struct PeripheralRecord: Codable, Hashable, Sendable {
  /// What was discovered on it.
  struct Cache: Codable, Hashable, Sendable {
    let hash: HexBytes
    /// `KnownAttributes.octets`.
    let attributes: HexBytes
  }

  let peripheral: String
  let address: String
  let addressType: String
  let adapter: String
  let name: String?
  /// False if somebody only asked for it; there is no such key otherwise.
  let wasConnected: Bool?
  let cache: Cache?

  /// The address with its type; nil if the text is none.
  var deviceAddress: DeviceAddress? {
    DeviceAddress.Kind.allCases.first { "\($0)" == addressType }.flatMap { DeviceAddress(address, kind: $0) }
  }

  /// The identifier in upper case; nil if it is no UUID.
  var identifier: String? { UUID(uuidString: peripheral)?.uuidString }
}
