/// A call and its answer, described once for both sides: all other descriptions of a method are derived from its type.
/// Its doc comment and `summary` say what it does; `ClientCall` and `DaemonCall` say which side calls it.
public protocol RPCMethod: Sendable {
  /// The parameters.
  associatedtype Params: Codable & Sendable
  /// The result.
  associatedtype Result: Codable & Sendable
  /// `noun.verb`.
  static var name: String { get }
  /// A short description for `rpc.discover`.
  static var summary: String { get }
}

/// A call that clients make.
public protocol ClientCall: RPCMethod {
  /// The permission that the caller needs; nil if everybody may call it. There is no default, so that no method is
  /// opened to everybody by oversight.
  static var permission: Permission? { get }
  /// Whether the call can change what the session holds.
  static var changesSession: Bool { get }
}

extension ClientCall {
  /// False by default.
  public static var changesSession: Bool { false }
}

/// A call that the daemon makes: it asks a session for something that only its program knows.
public protocol DaemonCall: RPCMethod {}

/// A message without an answer.
public protocol RPCNotification: Sendable {
  /// The parameters.
  associatedtype Params: Codable & Sendable
  /// `noun.what`.
  static var name: String { get }
  /// A short description for `rpc.discover`.
  static var summary: String { get }
  /// Whether it reports a change of what the session holds.
  static var changesSession: Bool { get }
}

extension RPCNotification {
  /// False by default.
  public static var changesSession: Bool { false }
}

/// Params or a result without members: `{}` on the wire.
public struct Empty: Codable, Sendable, Hashable {
  /// Makes the empty object.
  public init() {}
}
