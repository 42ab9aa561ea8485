import Bluetooth

/// A value with the attribute that it is of.
public struct AttributeValue: Codable, Sendable, Hashable {
  /// The handle of the attribute.
  public var handle: UInt16
  /// Its UUID, if it was named by UUIDs.
  public var uuid: BluetoothUUID?
  /// The value.
  public var value: HexBytes
  public init(handle: UInt16, uuid: BluetoothUUID? = nil, value: HexBytes) {
    self.handle = handle
    self.uuid = uuid
    self.value = value
  }
}

/// Several values.
public struct AttributeValues: RPCPayload {
  /// The values.
  public var values: [AttributeValue]
  public init(values: [AttributeValue]) { self.values = values }
}

/// Reads values by their UUID, without discovery.
public enum GATTReadUsingUUID: ClientCall {
  /// The values in order of their handles.
  public typealias Result = AttributeValues
  public static let method = MethodDescription(
    "gatt.readUsingUUID", needs: .connect,
    """
    Reads all attributes of a UUID in a range of handles without discovering anything (Read Using Characteristic UUID). \
    Each value has at most MTU − 4 octets, and at most 253: gatt.read reads the rest. Fails with the att error \
    attributeNotFound if there is none.
    """)
  public struct Params: RPCPayload, Hashable {
    /// The daemon's identifier of the device.
    public var peripheral: String
    /// The UUID of the characteristics or descriptors.
    public var uuid: BluetoothUUID
    /// The first handle of the range; 1 if missing.
    public var start: UInt16?
    /// The last handle of the range; 65535 if missing.
    public var end: UInt16?
    public init(peripheral: String, uuid: BluetoothUUID, start: UInt16? = nil, end: UInt16? = nil) {
      self.peripheral = peripheral
      self.uuid = uuid
      self.start = start
      self.end = end
    }
  }
}

/// Reads several values with one request.
public enum GATTReadMultiple: ClientCall {
  public static let method = MethodDescription(
    "gatt.readMultiple", needs: .connect,
    """
    Reads several values with one request. With `variable` each value has its length, and those that do not fit into \
    the MTU are left out (Read Multiple Variable Length Characteristic Values); without it they come in a row, of at \
    most MTU − 1 octets, and the caller has to know their lengths (Read Multiple Characteristic Values). Fails with the \
    gap error notSupported if the device does not know the request.
    """)
  public struct Params: RPCPayload, Hashable {
    /// The daemon's identifier of the device.
    public var peripheral: String
    /// 2 or more values, as many as fit into the request: (MTU − 1) / 2.
    public var attributes: [AttributePath]
    /// True if the values have different lengths; false if missing.
    public var variable: Bool?
    public init(peripheral: String, attributes: [AttributePath], variable: Bool? = nil) {
      self.peripheral = peripheral
      self.attributes = attributes
      self.variable = variable
    }
  }
  public struct Result: RPCPayload {
    /// With `variable`: the values, in the order of the attributes.
    public var values: [AttributeValue]?
    /// Otherwise: all values in a row.
    public var value: HexBytes?
    public init(values: [AttributeValue]? = nil, value: HexBytes? = nil) {
      self.values = values
      self.value = value
    }
  }
}

/// Writes several values at once, or none.
public enum GATTWriteReliably: ClientCall {
  public static let method = MethodDescription(
    "gatt.writeReliably", needs: .connect,
    """
    Writes several values, or parts of them, at once (Characteristic Value Reliable Writes). The device repeats each; \
    if one of them comes back changed, or the device refuses one, nothing is written.
    """)
  /// A part of a value.
  public struct Write: Codable, Sendable, Hashable {
    /// The value's characteristic.
    public var attribute: AttributePath
    /// The offset in the device's value, in octets, 0 to 512; at its beginning if missing.
    public var offset: Int?
    /// The octets.
    public var value: HexBytes
    public init(_ attribute: AttributePath, offset: Int? = nil, value: HexBytes) {
      self.attribute = attribute
      self.offset = offset
      self.value = value
    }

    private enum CodingKeys: CodingKey { case offset, value }

    /// Reads the members, and the attribute's.
    public init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: CodingKeys.self)
      attribute = try AttributePath(from: decoder)
      offset = try container.decodeIfPresent(Int.self, forKey: .offset)
      value = try container.decode(HexBytes.self, forKey: .value)
    }

    /// Writes the members, and the attribute's.
    public func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: CodingKeys.self)
      try attribute.encode(to: encoder)
      try container.encodeIfPresent(offset, forKey: .offset)
      try container.encode(value, forKey: .value)
    }
  }
  public struct Params: RPCPayload, Hashable {
    /// The daemon's identifier of the device.
    public var peripheral: String
    /// 1 to 64 writes, in their order.
    public var writes: [Write]
    public init(peripheral: String, writes: [Write]) {
      self.peripheral = peripheral
      self.writes = writes
    }
  }
  public struct Result: RPCPayload {
    /// The attributes written, in the order of the writes.
    public var written: [AttributeFound]
    public init(written: [AttributeFound]) { self.written = written }
  }
}

/// The features of the device's GATT server.
public enum GATTServerFeatures: ClientCall {
  /// The device.
  public typealias Params = PeripheralReference
  public static let method = MethodDescription(
    "gatt.serverFeatures", needs: .connect,
    "Reads the Server Supported Features (2B3A) of a device.")
  public struct Result: RPCPayload, Hashable {
    /// True if it supports EATT: several requests at once, over enhanced bearers.
    public var enhancedBearers: Bool
    /// The value as it was read; missing if the device does not have the characteristic.
    public var value: HexBytes?
    public init(enhancedBearers: Bool, value: HexBytes?) {
      self.enhancedBearers = enhancedBearers
      self.value = value
    }
  }
}
