import BledRPC
import Bluetooth
import FoundationEssentials

/// The document `peripherals` of the store: the devices that sessions connected to, the last used first.
struct PeripheralRecords: Codable, Hashable, Sendable {
  var peripherals: [PeripheralRecord] = []
}

/// A device in the store.
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
  /// False if it was only requested; otherwise the key is absent.
  let wasConnected: Bool?
  let cache: Cache?

  /// The address with its type; nil if the text is not an address.
  var deviceAddress: DeviceAddress? {
    DeviceAddress.Kind(word: addressType).flatMap { DeviceAddress(address, kind: $0) }
  }

  /// The identifier in upper case; nil if it is not a UUID.
  var identifier: String? { UUID(uuidString: peripheral)?.uuidString }
}
