import Bluetooth

/// Reads a value.
public enum GATTRead: ClientCall {
  /// `gatt.read`
  public static let name = "gatt.read"
  /// What a caller must be permitted.
  public static let permission: Permission? = .connect
  /// For `rpc.discover`.
  public static let summary = "Reads the whole value of a characteristic or descriptor, however long."
  /// What the caller sends.
  public struct Params: RPCPayload {
    /// The device.
    public var peripheral: String
    /// The handle of the value or descriptor.
    public var handle: UInt16
    /// Makes the params.
    public init(peripheral: String, handle: UInt16) {
      self.peripheral = peripheral
      self.handle = handle
    }
  }
  /// What comes back.
  public struct Result: RPCPayload {
    /// 0 to 512 octets.
    public var value: HexBytes
    /// Makes the result.
    public init(value: HexBytes) { self.value = value }
  }
}

/// Writes a value.
public enum GATTWrite: ClientCall {
  /// Nothing comes back.
  public typealias Result = Empty
  /// `gatt.write`
  public static let name = "gatt.write"
  /// What a caller must be permitted.
  public static let permission: Permission? = .connect
  /// For `rpc.discover`.
  public static let summary = """
    Writes a value of up to 512 octets. With a response it answers when the device has answered; without one it \
    answers when the packet has room on the link, and the value must fit into MTU − 3.
    """
  /// What the caller sends.
  public struct Params: RPCPayload {
    /// The device.
    public var peripheral: String
    /// The handle of the value or descriptor.
    public var handle: UInt16
    /// The value.
    public var value: HexBytes
    /// False: write without response. If missing: with response.
    public var response: Bool?
    /// Makes the params.
    public init(peripheral: String, handle: UInt16, value: HexBytes, response: Bool? = nil) {
      self.peripheral = peripheral
      self.handle = handle
      self.value = value
      self.response = response
    }
  }
}

/// Names a characteristic of a device.
public struct CharacteristicReference: RPCPayload, Hashable {
  /// The device.
  public var peripheral: String
  /// The handle of the characteristic's value.
  public var handle: UInt16
  /// Makes the params.
  public init(peripheral: String, handle: UInt16) {
    self.peripheral = peripheral
    self.handle = handle
  }
}

/// Subscribes to a characteristic.
public enum GATTSubscribe: ClientCall {
  /// The characteristic.
  public typealias Params = CharacteristicReference
  /// Nothing comes back.
  public typealias Result = Empty
  /// `gatt.subscribe`
  public static let name = "gatt.subscribe"
  /// What a caller must be permitted.
  public static let permission: Permission? = .connect
  /// The session may hold something else afterwards.
  public static let changesSession = true
  /// For `rpc.discover`.
  public static let summary = """
    Subscribes to a characteristic: to its notifications, or to its indications if it has no others. Values come as \
    gatt.value, also those that the device sends before it confirms the subscription.
    """
}

/// Ends this session's subscription.
public enum GATTUnsubscribe: ClientCall {
  /// The characteristic.
  public typealias Params = CharacteristicReference
  /// Nothing comes back.
  public typealias Result = Empty
  /// `gatt.unsubscribe`
  public static let name = "gatt.unsubscribe"
  /// What a caller must be permitted.
  public static let permission: Permission? = .connect
  /// The session may hold something else afterwards.
  public static let changesSession = true
  /// For `rpc.discover`.
  public static let summary =
    "Ends this session's subscription; the device is told when the last session has ended its own."
}

/// A subscribed value came.
public enum GATTValue: RPCNotification {
  /// `gatt.value`
  public static let name = "gatt.value"
  /// For `rpc.discover`.
  public static let summary = "A value that this session subscribed to came from the device."
  /// What it carries; the same for every client.
  public struct Params: RPCPayload {
    /// The device.
    public var peripheral: String
    /// The handle of the characteristic's value.
    public var handle: UInt16
    /// The value.
    public var value: HexBytes
    /// Makes the params.
    public init(peripheral: String, handle: UInt16, value: HexBytes) {
      self.peripheral = peripheral
      self.handle = handle
      self.value = value
    }
  }
}

/// The device's services changed.
public enum GATTServicesChanged: RPCNotification {
  /// `gatt.servicesChanged`
  public static let name = "gatt.servicesChanged"
  /// The session may hold something else afterwards.
  public static let changesSession = true
  /// For `rpc.discover`.
  public static let summary =
    "The device says that attributes in this range changed: handles in it are void, discover again."
  /// What it carries.
  public struct Params: RPCPayload {
    /// The device.
    public var peripheral: String
    /// First handle of the range.
    public var start: UInt16
    /// Last handle of the range.
    public var end: UInt16
    /// Makes the params.
    public init(peripheral: String, start: UInt16, end: UInt16) {
      self.peripheral = peripheral
      self.start = start
      self.end = end
    }
  }
}

/// This session lost a subscription.
public enum GATTSubscriptionLost: RPCNotification {
  /// `gatt.subscriptionLost`
  public static let name = "gatt.subscriptionLost"
  /// The session may hold something else afterwards.
  public static let changesSession = true
  /// For `rpc.discover`.
  public static let summary = "This session lost a subscription, for instance because it did not read fast enough."
  /// What it carries.
  public struct Params: RPCPayload {
    /// The device.
    public var peripheral: String
    /// The handle of the characteristic's value.
    public var handle: UInt16
    /// Why.
    public var reason: RPCError
    /// Makes the params.
    public init(peripheral: String, handle: UInt16, reason: RPCError) {
      self.peripheral = peripheral
      self.handle = handle
      self.reason = reason
    }
  }
}

/// Values may be lost.
public enum GATTValuesLost: RPCNotification {
  /// `gatt.valuesLost`
  public static let name = "gatt.valuesLost"
  /// For `rpc.discover`.
  public static let summary = """
    Packets of a device had no room on this machine and are lost; values that this session subscribed to may have been \
    among them. The subscriptions go on.
    """
  /// What it carries; the same for every client.
  public struct Params: RPCPayload {
    /// The device.
    public var peripheral: String
    /// How many packets, 1 or more.
    public var packets: Int
    /// Makes the params.
    public init(peripheral: String, packets: Int) {
      self.peripheral = peripheral
      self.packets = packets
    }
  }
}
