import Bluetooth

/// Reads a value.
public enum GATTRead: ClientCall {
  public static let method = MethodDescription(
    "gatt.read", needs: .connect,
    """
    Reads the whole value of a characteristic or descriptor, whatever its length. It is named by its handle, or by the \
    UUIDs of the characteristic, its service and the descriptor, which are discovered where they are not known.
    """)
  public struct Params: RPCPayload, Hashable {
    /// The daemon's identifier of the device.
    public var peripheral: String
    /// The value's characteristic, or the descriptor.
    public var attribute: AttributePath
    /// True: sends the request even if the declared properties do not allow it.
    public var force: Bool?

    public init(peripheral: String, attribute: AttributePath, force: Bool? = nil) {
      self.peripheral = peripheral
      self.attribute = attribute
      self.force = force
    }

    /// Makes the params for a handle.
    public init(peripheral: String, handle: UInt16, force: Bool? = nil) {
      self.init(peripheral: peripheral, attribute: .handle(handle), force: force)
    }

    private enum CodingKeys: CodingKey { case peripheral, force }

    /// Reads the members, and the attribute's.
    public init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: CodingKeys.self)
      peripheral = try container.decode(String.self, forKey: .peripheral)
      attribute = try AttributePath(from: decoder)
      force = try container.decodeIfPresent(Bool.self, forKey: .force)
    }

    /// Writes the members, and the attribute's.
    public func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: CodingKeys.self)
      try container.encode(peripheral, forKey: .peripheral)
      try attribute.encode(to: encoder)
      try container.encodeIfPresent(force, forKey: .force)
    }
  }
  public struct Result: RPCPayload {
    /// 0 to 512 octets.
    public var value: HexBytes
    /// The handle, if the attribute was named by UUIDs.
    public var handle: UInt16?
    /// Its UUID, likewise.
    public var uuid: BluetoothUUID?
    /// True if the device has more than 512 octets, or does not give the rest of the value.
    public var truncated: Bool?
    public init(value: HexBytes, handle: UInt16? = nil, uuid: BluetoothUUID? = nil, truncated: Bool? = nil) {
      self.value = value
      self.handle = handle
      self.uuid = uuid
      self.truncated = truncated
    }
  }
}

/// Writes a value.
public enum GATTWrite: ClientCall {
  /// The attribute written, if UUIDs named it.
  public typealias Result = AttributeFound
  public static let method = MethodDescription(
    "gatt.write", needs: .connect,
    """
    Writes a value of up to 512 octets. With a response, the call answers once the device has answered; without one, \
    it answers once there was room for the packet on the link, and the value must fit into MTU − 3. With an offset the \
    value is written from there on, with a response; whether what lies behind it stays is up to the device. A signed \
    write has no response; the value must fit into MTU − 15, and it needs a bond in whose pairing we gave a key for \
    signatures. On an encrypted link it goes as a write without response, as the specification has it.
    """)
  public struct Params: RPCPayload {
    /// The daemon's identifier of the device.
    public var peripheral: String
    /// The value's characteristic, or the descriptor.
    public var attribute: AttributePath
    /// The value.
    public var value: HexBytes
    /// False: write without response. If missing: with response.
    public var response: Bool?
    /// The offset in the device's value, in octets, 0 to 512; at its beginning if missing.
    public var offset: Int?
    /// True: a signed write (Core 5.4, Vol 3, Part G, 4.9.2).
    public var signed: Bool?
    /// True: sends the request even if the declared properties do not allow it.
    public var force: Bool?
    public init(
      peripheral: String, attribute: AttributePath, value: HexBytes, response: Bool? = nil, offset: Int? = nil,
      signed: Bool? = nil, force: Bool? = nil
    ) {
      self.peripheral = peripheral
      self.attribute = attribute
      self.value = value
      self.response = response
      self.offset = offset
      self.signed = signed
      self.force = force
    }

    /// Makes the params of a write to a handle.
    public init(peripheral: String, handle: UInt16, value: HexBytes, response: Bool? = nil) {
      self.init(peripheral: peripheral, attribute: .handle(handle), value: value, response: response)
    }

    private enum CodingKeys: CodingKey { case peripheral, value, response, offset, signed, force }

    /// Reads the members, and the attribute's.
    public init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: CodingKeys.self)
      peripheral = try container.decode(String.self, forKey: .peripheral)
      attribute = try AttributePath(from: decoder)
      value = try container.decode(HexBytes.self, forKey: .value)
      response = try container.decodeIfPresent(Bool.self, forKey: .response)
      offset = try container.decodeIfPresent(Int.self, forKey: .offset)
      signed = try container.decodeIfPresent(Bool.self, forKey: .signed)
      force = try container.decodeIfPresent(Bool.self, forKey: .force)
    }

    /// Writes the members, and the attribute's.
    public func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: CodingKeys.self)
      try container.encode(peripheral, forKey: .peripheral)
      try attribute.encode(to: encoder)
      try container.encode(value, forKey: .value)
      try container.encodeIfPresent(response, forKey: .response)
      try container.encodeIfPresent(offset, forKey: .offset)
      try container.encodeIfPresent(signed, forKey: .signed)
      try container.encodeIfPresent(force, forKey: .force)
    }
  }
}

/// Names a characteristic of a device by its handle.
public struct CharacteristicReference: RPCPayload, Hashable {
  /// The daemon's identifier of the device.
  public var peripheral: String
  /// The handle of the characteristic's value.
  public var handle: UInt16
  public init(peripheral: String, handle: UInt16) {
    self.peripheral = peripheral
    self.handle = handle
  }
}

/// Subscribes to a characteristic.
public enum GATTSubscribe: ClientCall {
  public struct Params: RPCPayload, Hashable {
    /// The daemon's identifier of the device.
    public var peripheral: String
    /// The characteristic.
    public var attribute: AttributePath
    /// True: its indications, false: its notifications. If missing: the choice of other sessions, else its
    /// notifications, or its indications if it has no notifications.
    public var indications: Bool?
    public init(peripheral: String, attribute: AttributePath, indications: Bool? = nil) {
      self.peripheral = peripheral
      self.attribute = attribute
      self.indications = indications
    }

    public init(peripheral: String, handle: UInt16) { self.init(peripheral: peripheral, attribute: .handle(handle)) }

    private enum CodingKeys: CodingKey { case peripheral, indications }

    /// Reads the members, and the attribute's.
    public init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: CodingKeys.self)
      peripheral = try container.decode(String.self, forKey: .peripheral)
      attribute = try AttributePath(from: decoder)
      indications = try container.decodeIfPresent(Bool.self, forKey: .indications)
    }

    /// Writes the members, and the attribute's.
    public func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: CodingKeys.self)
      try container.encode(peripheral, forKey: .peripheral)
      try attribute.encode(to: encoder)
      try container.encodeIfPresent(indications, forKey: .indications)
    }
  }
  /// The place of its values, if it was named by UUIDs.
  public typealias Result = AttributeFound
  public static let method = MethodDescription(
    "gatt.subscribe", needs: .connect, changesSession: true,
    """
    Subscribes to the notifications of a characteristic, or to its indications if it has no notifications or they are \
    asked for. All sessions share one choice: another one fails with alreadyInProgress while others are subscribed. \
    Values are sent as gatt.value, including those that the device sends before it confirms the subscription.
    """)
}

/// Ends this session's subscription.
public enum GATTUnsubscribe: ClientCall {
  /// The characteristic.
  public typealias Params = AttributeReference
  /// The characteristic, if it was named by UUIDs.
  public typealias Result = AttributeFound
  public static let method = MethodDescription(
    "gatt.unsubscribe", needs: .connect, changesSession: true,
    "Ends this session's subscription; the daemon unsubscribes on the device when no session is subscribed any more.")
}

/// A value was notified or indicated.
public enum GATTValue: RPCNotification {
  public static let message = MessageDescription(
    "gatt.value",
    "The device notified or indicated a value that this session subscribed to.")
  /// The parameters; the same for every client.
  public struct Params: RPCPayload {
    /// The daemon's identifier of the device.
    public var peripheral: String
    /// The handle of the characteristic's value.
    public var handle: UInt16
    /// The value.
    public var value: HexBytes
    /// When it was received, in seconds since the epoch: a restored session gets values that were kept for it.
    public var time: Double?
    /// Increases with each value of all devices while the daemon runs, from 1 on: a value for several sessions has the
    /// same one in each.
    public var serial: Int?
    public init(peripheral: String, handle: UInt16, value: HexBytes, time: Double? = nil, serial: Int? = nil) {
      self.peripheral = peripheral
      self.handle = handle
      self.value = value
      self.time = time
      self.serial = serial
    }
  }
}

/// The device's services changed.
public enum GATTServicesChanged: RPCNotification {
  public static let message = MessageDescription(
    "gatt.servicesChanged", changesSession: true,
    "The attributes in this range of handles changed: the handles are no longer valid, discover again.")
  public struct Params: RPCPayload {
    /// The daemon's identifier of the device.
    public var peripheral: String
    /// First handle of the range.
    public var start: UInt16
    /// Last handle of the range.
    public var end: UInt16
    public init(peripheral: String, start: UInt16, end: UInt16) {
      self.peripheral = peripheral
      self.start = start
      self.end = end
    }
  }
}

/// The daemon ended a subscription of this session.
public enum GATTSubscriptionLost: RPCNotification {
  public static let message = MessageDescription(
    "gatt.subscriptionLost", changesSession: true,
    "The daemon ended a subscription of this session, for instance because it did not read fast enough.")
  public struct Params: RPCPayload {
    /// The daemon's identifier of the device.
    public var peripheral: String
    /// The handle of the characteristic's value.
    public var handle: UInt16
    /// The reason.
    public var reason: RPCError
    public init(peripheral: String, handle: UInt16, reason: RPCError) {
      self.peripheral = peripheral
      self.handle = handle
      self.reason = reason
    }
  }
}

/// Values may have been lost.
public enum GATTValuesLost: RPCNotification {
  public static let message = MessageDescription(
    "gatt.valuesLost",
    """
    Packets from a device were dropped because a buffer of the kernel was full. They may have contained values that \
    this session subscribed to. The subscriptions continue.
    """)
  /// The parameters; the same for every client.
  public struct Params: RPCPayload {
    /// The daemon's identifier of the device.
    public var peripheral: String
    /// The number of packets, 1 or more.
    public var packets: Int
    public init(peripheral: String, packets: Int) {
      self.peripheral = peripheral
      self.packets = packets
    }
  }
}
