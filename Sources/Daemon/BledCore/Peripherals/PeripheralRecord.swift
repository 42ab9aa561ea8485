import BledRPC
import Bluetooth
import FoundationEssentials

/// The document `peripherals` of the store: the devices connected by sessions, the last used first.
struct PeripheralRecords: Codable, Hashable, Sendable {
  var peripherals: [PeripheralRecord] = []
}

/// A device in the store.
struct PeripheralRecord: Codable, Hashable, Sendable {
  /// The discovered attributes.
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
  /// False if it was neither discovered nor linked; otherwise the key is absent.
  let wasMet: Bool?
  /// When it was learned that it does not answer Exchange MTU, in seconds since the epoch; absent if it does.
  let ignoresMTUSince: Double?
  /// True if its controller resolves private addresses; absent if unknown.
  let resolvesAddresses: Bool?
  /// Identifiers of entries that turned out to be the same device; absent if there are none.
  let former: [String]?
  /// True if it advertises with private addresses; otherwise the key is absent.
  let usesPrivateAddresses: Bool?
  /// The users that requested a connection to it; absent if none is known.
  let users: [UInt32]?
  let cache: Cache?

  /// The address with its type; nil if the text is not an address.
  var deviceAddress: DeviceAddress? {
    DeviceAddress.Kind(word: addressType).flatMap { DeviceAddress(address, kind: $0) }
  }

  /// The name, if a device can have it (Vol 3, Part C, 12.1).
  var deviceName: String? { name.flatMap { $0.utf8.count <= 248 ? $0 : nil } }

  /// The identifier in upper case; nil if it is not a UUID.
  var identifier: String? { Self.identifier(peripheral) }

  /// The former ones that are valid UUIDs.
  var formerIdentifiers: [String] { (former ?? []).compactMap(Self.identifier) }

  private static func identifier(_ text: String) -> String? {
    text.utf8.count == 36 ? UUID(uuidString: text)?.uuidString : nil
  }
}
