/// Describes the protocol.
public enum RPCDiscover: ClientCall {
  /// There are no parameters.
  public typealias Params = Empty
  /// The OpenRPC document.
  public typealias Result = JSONValue
  /// `rpc.discover`
  public static let name = "rpc.discover"
  /// For `rpc.discover`.
  public static let summary = "Describes this protocol as an OpenRPC document."
  /// None: everybody may call it.
  public static let permission: Permission? = nil
}
