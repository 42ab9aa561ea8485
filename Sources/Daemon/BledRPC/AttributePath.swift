import Bluetooth

/// Names an attribute of a device: by its handle, or by UUIDs, which the daemon looks up in the device's primary
/// services.
public struct AttributePath: Codable, Sendable, Hashable {
  /// The handle, 1 to 65535; alone, without any of the others.
  public var handle: UInt16?
  /// The UUID of the characteristic.
  public var characteristic: BluetoothUUID?
  /// The UUID of the service, or of the one that the characteristic is in; any service if missing.
  public var service: BluetoothUUID?
  /// The UUID of a descriptor of the characteristic.
  public var descriptor: BluetoothUUID?
  /// The index of the attribute if several match, 0 or more, in the order of their handles.
  public var index: Int?

  /// Names an attribute by its handle.
  public static func handle(_ handle: UInt16) -> AttributePath { AttributePath(handle: handle) }

  /// Names a service by its UUID.
  public static func service(_ uuid: BluetoothUUID, index: Int? = nil) -> AttributePath {
    AttributePath(service: uuid, index: index)
  }

  /// Names a characteristic by its UUID, of any service if that is nil.
  public static func characteristic(
    _ uuid: BluetoothUUID, of service: BluetoothUUID? = nil, index: Int? = nil
  ) -> AttributePath { AttributePath(characteristic: uuid, service: service, index: index) }

  /// Names a descriptor of a characteristic by both their UUIDs.
  public static func descriptor(
    _ uuid: BluetoothUUID, of characteristic: BluetoothUUID, in service: BluetoothUUID? = nil, index: Int? = nil
  ) -> AttributePath {
    AttributePath(characteristic: characteristic, service: service, descriptor: uuid, index: index)
  }
}

/// An attribute of a device: its members are the device and an `AttributePath`'s.
public struct AttributeReference: RPCPayload, Hashable {
  /// The daemon's identifier of the device.
  public var peripheral: String
  /// The attribute.
  public var attribute: AttributePath

  /// Names an attribute.
  public init(peripheral: String, attribute: AttributePath) {
    self.peripheral = peripheral
    self.attribute = attribute
  }

  /// Names an attribute by its handle.
  public init(peripheral: String, handle: UInt16) { self.init(peripheral: peripheral, attribute: .handle(handle)) }

  private enum CodingKeys: CodingKey { case peripheral }

  /// Reads the members of both.
  public init(from decoder: any Decoder) throws {
    peripheral = try decoder.container(keyedBy: CodingKeys.self).decode(String.self, forKey: .peripheral)
    attribute = try AttributePath(from: decoder)
  }

  /// Writes the members of both.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(peripheral, forKey: .peripheral)
    try attribute.encode(to: encoder)
  }
}

/// The attribute that a path of UUIDs names. Its members are missing if the call gave a handle.
public struct AttributeFound: RPCPayload, Hashable {
  /// The handle of the attribute.
  public var handle: UInt16?
  /// Its UUID.
  public var uuid: BluetoothUUID?

  public init(handle: UInt16? = nil, uuid: BluetoothUUID? = nil) {
    self.handle = handle
    self.uuid = uuid
  }
}
