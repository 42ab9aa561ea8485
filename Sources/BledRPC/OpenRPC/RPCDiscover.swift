/// Describes the protocol.
public enum RPCDiscover: ClientCall {
  /// Nothing to say.
  public typealias Params = Empty
  /// The OpenRPC document.
  public typealias Result = JSONValue
  /// `rpc.discover`
  public static let name = "rpc.discover"
  /// For `rpc.discover`.
  public static let summary = "Describes this protocol as an OpenRPC document."
  /// Everybody may.
  public static let permission: Permission? = nil
}
