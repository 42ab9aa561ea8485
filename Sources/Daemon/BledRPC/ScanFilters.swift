import Bluetooth

extension ScanStart {
  /// Conditions on an advertisement. All members that are present must match; at least one must be present.
  public struct Filter: Codable, Hashable, Sendable {
    /// The advertisement lists one of these services.
    public var services: [BluetoothUUID]?
    /// The device's name begins with this text.
    public var name: String?
    /// True: the name is this text and no more. Requires `name`.
    public var wholeName: Bool?
    /// True: upper and lower case of the name are not distinguished. Requires `name`.
    public var ignoreCase: Bool?
    /// The advertisement has manufacturer-specific data like this.
    public var manufacturer: Manufacturer?
    /// The advertisement has service data like this.
    public var serviceData: ServiceData?
    /// The advertisement has an AD structure like this.
    public var pattern: Pattern?
    /// The device's address is of one of these kinds: public, static random (the same at least until the device
    /// restarts), resolvable private (resolved with the device's key), non-resolvable private.
    public var addressKinds: [Word<AddressKind>]?
    /// True: the device accepts connections.
    public var connectable: Bool?

    /// Makes a filter.
    public init(
      services: [BluetoothUUID]? = nil, name: String? = nil, wholeName: Bool? = nil, ignoreCase: Bool? = nil,
      manufacturer: Manufacturer? = nil, serviceData: ServiceData? = nil, pattern: Pattern? = nil,
      addressKinds: [Word<AddressKind>]? = nil, connectable: Bool? = nil
    ) {
      self.services = services
      self.name = name
      self.wholeName = wholeName
      self.ignoreCase = ignoreCase
      self.manufacturer = manufacturer
      self.serviceData = serviceData
      self.pattern = pattern
      self.addressKinds = addressKinds
      self.connectable = connectable
    }
  }

  /// Manufacturer-specific data to match.
  public struct Manufacturer: Codable, Hashable, Sendable {
    /// The company identifier, 0 to 65535 (Assigned Numbers, 7.1).
    public var company: UInt16
    /// The beginning of the data after the company identifier; anything if missing.
    public var data: HexBytes?
    /// The bits of `data` that count, as many octets; all of them if missing.
    public var mask: HexBytes?
    public init(company: UInt16, data: HexBytes? = nil, mask: HexBytes? = nil) {
      self.company = company
      self.data = data
      self.mask = mask
    }
  }

  /// Service data to match.
  public struct ServiceData: Codable, Hashable, Sendable {
    /// The service.
    public var uuid: BluetoothUUID
    /// The beginning of the data after the UUID; anything if missing.
    public var data: HexBytes?
    /// The bits of `data` that count, as many octets; all of them if missing.
    public var mask: HexBytes?
    public init(uuid: BluetoothUUID, data: HexBytes? = nil, mask: HexBytes? = nil) {
      self.uuid = uuid
      self.data = data
      self.mask = mask
    }
  }

  /// Octets in an AD structure to match.
  public struct Pattern: Codable, Hashable, Sendable {
    /// The AD type, 0 to 255 (Assigned Numbers, 2.3).
    public var type: Int
    /// The offset in the data of the structure, behind its type, in octets, 0 to 254; 0 if missing.
    public var offset: Int?
    /// The octets there.
    public var data: HexBytes
    public init(type: Int, offset: Int? = nil, data: HexBytes) {
      self.type = type
      self.offset = offset
      self.data = data
    }
  }

  /// The kinds of device addresses (Core 5.4, Vol 6, Part B, 1.3).
  public enum AddressKind: String, Vocabulary {
    /// A public address.
    case `public`
    /// A static random one, which stays the same at least until the device restarts.
    case randomStatic
    /// A resolvable private one, which changes: holders of the device's key can resolve it.
    case resolvable
    /// A non-resolvable private one, which changes and identifies no device.
    case nonResolvable
  }
}
