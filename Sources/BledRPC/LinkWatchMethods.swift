/// Has this session told of the links of the whole machine.
public enum PeripheralWatch: ClientCall {
  /// Nothing comes back.
  public typealias Result = Empty
  /// `peripheral.watch`
  public static let name = "peripheral.watch"
  /// What a caller must be permitted.
  public static let permission: Permission? = .connect
  /// For `rpc.discover`.
  public static let summary = """
    Has this session told of each link that comes up or ends, for whichever session: peripheral.linkChanged. What is \
    linked already is in peripheral.list.
    """

  /// What the caller sends.
  public struct Params: RPCPayload {
    /// False ends it; true if missing.
    public var on: Bool?
    /// Makes the params.
    public init(on: Bool? = nil) { self.on = on }
  }
}

/// A link came up or ended, for whichever session.
public enum PeripheralLinkChanged: RPCNotification {
  /// `peripheral.linkChanged`
  public static let name = "peripheral.linkChanged"
  /// For `rpc.discover`.
  public static let summary = "A link came up or ended, for whichever session; sent after peripheral.watch."
  /// What it carries.
  public struct Params: RPCPayload, Hashable {
    /// The daemon's identifier of the device.
    public var peripheral: String
    /// Whether it is linked now.
    public var linked: Bool
    /// The device's name, where known.
    public var name: String?
    /// Makes the params.
    public init(peripheral: String, linked: Bool, name: String?) {
      self.peripheral = peripheral
      self.linked = linked
      self.name = name
    }
  }
}
