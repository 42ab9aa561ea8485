import Bluetooth

/// Passes values of a characteristic over a descriptor.
public enum GATTAcquire: ClientCall {
  public static let method = MethodDescription(
    "gatt.acquire", needs: .connect,
    """
    Passes a SOCK_SEQPACKET descriptor with the answer, for many values of one characteristic: each packet that the \
    program writes is sent as a Write Command, and each notification or indication is a packet to read. At a time one \
    descriptor is for writing, and one for values; it can be the same. Closing the descriptor ends that, and so does \
    gatt.released.
    """)
  public struct Params: RPCPayload, Hashable {
    /// The daemon's identifier of the device.
    public var peripheral: String
    /// The characteristic.
    public var attribute: AttributePath
    /// False: the program only writes. If missing: it also reads the values of a characteristic that has any.
    public var values: Bool?
    /// False: the program only reads values. If missing: it also writes, where the characteristic can be written
    /// without response.
    public var writes: Bool?
    /// True: its indications, false: its notifications, as for gatt.subscribe.
    public var indications: Bool?
    /// True: gatt.released is also sent when the other end is closed, for a program that hands the descriptor on.
    public var closing: Bool?

    public init(
      peripheral: String, attribute: AttributePath, values: Bool? = nil, writes: Bool? = nil, indications: Bool? = nil,
      closing: Bool? = nil
    ) {
      self.peripheral = peripheral
      self.attribute = attribute
      self.values = values
      self.writes = writes
      self.indications = indications
      self.closing = closing
    }

    private enum CodingKeys: CodingKey { case peripheral, values, writes, indications, closing }

    /// Reads the members, and the attribute's.
    public init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: CodingKeys.self)
      peripheral = try container.decode(String.self, forKey: .peripheral)
      attribute = try AttributePath(from: decoder)
      values = try container.decodeIfPresent(Bool.self, forKey: .values)
      writes = try container.decodeIfPresent(Bool.self, forKey: .writes)
      indications = try container.decodeIfPresent(Bool.self, forKey: .indications)
      closing = try container.decodeIfPresent(Bool.self, forKey: .closing)
    }

    /// Writes the members, and the attribute's.
    public func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: CodingKeys.self)
      try container.encode(peripheral, forKey: .peripheral)
      try attribute.encode(to: encoder)
      try container.encodeIfPresent(values, forKey: .values)
      try container.encodeIfPresent(writes, forKey: .writes)
      try container.encodeIfPresent(indications, forKey: .indications)
      try container.encodeIfPresent(closing, forKey: .closing)
    }
  }
  /// The result; the descriptor is passed with it.
  public struct Result: RPCPayload, Hashable {
    /// The handle of the characteristic's value.
    public var handle: UInt16
    /// True if packets can be written.
    public var writes: Bool
    /// True if there are packets to read.
    public var values: Bool
    /// The longest value that can be written, in octets: MTU − 3, and 512 at most.
    public var maximumLength: Int

    public init(handle: UInt16, writes: Bool, values: Bool, maximumLength: Int) {
      self.handle = handle
      self.writes = writes
      self.values = values
      self.maximumLength = maximumLength
    }
  }
}

/// The daemon closed its end of a descriptor of `gatt.acquire`.
public enum GATTReleased: RPCNotification {
  public static let message = MessageDescription(
    "gatt.released",
    """
    The daemon closed its end of the descriptor of gatt.acquire: the link ended, the device's services changed, a packet \
    was longer than a value may be or, where the program asked for that, the other end was closed (error cancelled).
    """)
  public struct Params: RPCPayload {
    /// The daemon's identifier of the device.
    public var peripheral: String
    /// The handle of the characteristic's value.
    public var handle: UInt16
    /// The reason.
    public var reason: RPCError
    /// The number of packets that the program had written and that were not sent.
    public var unsent: Int
    /// True if the descriptor was for writing.
    public var writes: Bool?
    /// True if it was for values.
    public var values: Bool?
    public init(
      peripheral: String, handle: UInt16, reason: RPCError, unsent: Int, writes: Bool? = nil, values: Bool? = nil
    ) {
      self.writes = writes
      self.values = values
      self.peripheral = peripheral
      self.handle = handle
      self.reason = reason
      self.unsent = unsent
    }
  }
}

/// Values of a device had no room in a descriptor.
public enum GATTValuesDropped: RPCNotification {
  public static let message = MessageDescription(
    "gatt.valuesDropped",
    """
    So many values of the device were dropped because the program did not read the descriptor of gatt.acquire; those \
    that come from now on follow the gap.
    """)
  public struct Params: RPCPayload {
    /// The daemon's identifier of the device.
    public var peripheral: String
    /// The handle of the characteristic's value.
    public var handle: UInt16
    /// The number of values, 1 or more.
    public var values: Int
    public init(peripheral: String, handle: UInt16, values: Int) {
      self.peripheral = peripheral
      self.handle = handle
      self.values = values
    }
  }
}
