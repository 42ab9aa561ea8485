/// Reports the links of all sessions to this one.
public enum PeripheralWatch: ClientCall {
  public typealias Result = Empty
  public static let method = MethodDescription(
    "peripheral.watch", needs: .connect,
    """
    Reports each link that comes up or ends, of any session, to this session as peripheral.linkChanged. For the links \
    that are already up see peripheral.list.
    """)

  public struct Params: RPCPayload {
    /// False: stop reporting. True if missing.
    public var on: Bool?
    public init(on: Bool? = nil) { self.on = on }
  }
}

/// A link of any session was established or ended.
public enum PeripheralLinkChanged: RPCNotification {
  public static let message = MessageDescription(
    "peripheral.linkChanged",
    "A link of any session came up or ended; sent after peripheral.watch.")
  public struct Params: RPCPayload, Hashable {
    /// The daemon's identifier of the device.
    public var peripheral: String
    /// True if the link is up.
    public var linked: Bool
    /// The device's name, if known.
    public var name: String?
    /// The reason for the link's end. Missing if it is up.
    public var reason: RPCError?
    /// True if the link is up and the device made it. Missing otherwise.
    public var incoming: Bool?
    public init(
      peripheral: String, linked: Bool, name: String?, reason: RPCError? = nil, incoming: Bool? = nil
    ) {
      self.peripheral = peripheral
      self.linked = linked
      self.name = name
      self.reason = reason
      self.incoming = incoming
    }
  }
}
