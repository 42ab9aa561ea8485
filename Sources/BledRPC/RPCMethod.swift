/// A call and its answer, described once for both sides. Its doc comment in the source and `summary` say what it does.
public protocol RPCMethod: Sendable {
  /// What the caller sends.
  associatedtype Params: Codable & Sendable
  /// What comes back.
  associatedtype Result: Codable & Sendable
  /// `noun.verb`.
  static var name: String { get }
  /// One sentence for the description that `rpc.discover` gives.
  static var summary: String { get }
  /// What a caller must be permitted; nil if everybody may call it. Unless a method says otherwise, that of its noun.
  static var permission: Permission? { get }
}

/// A message that gets no answer.
public protocol RPCNotification: Sendable {
  /// What it carries.
  associatedtype Params: Codable & Sendable
  /// `noun.what`.
  static var name: String { get }
  /// One sentence for the description that `rpc.discover` gives.
  static var summary: String { get }
}

/// Params or a result without members: `{}` on the wire.
public struct Empty: Codable, Sendable, Hashable {
  /// Makes the empty object.
  public init() {}
}
