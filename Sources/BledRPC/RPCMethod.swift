/// A call and its answer, described once for both sides: everything else that is said of a method derives from its type. Its
/// doc comment in the source and `summary` say what it does. Which side calls it is said by `ClientCall` and `DaemonCall`.
public protocol RPCMethod: Sendable {
  /// What the caller sends.
  associatedtype Params: RPCPayload
  /// What comes back.
  associatedtype Result: RPCPayload
  /// `noun.verb`.
  static var name: String { get }
  /// One sentence for the description that `rpc.discover` gives.
  static var summary: String { get }
}

/// What clients call.
public protocol ClientCall: RPCMethod {
  /// What a caller must be permitted; nil if everybody may call it. Without a default, so that no method is open to all, or
  /// closed to those that need it, by oversight.
  static var permission: Permission? { get }
  /// Whether the session may hold something else afterwards. False unless a method says otherwise.
  static var changesSession: Bool { get }
}

extension ClientCall {
  /// False unless a method says otherwise.
  public static var changesSession: Bool { false }
}

/// What the daemon calls: it asks a session for something that only its program knows.
public protocol DaemonCall: RPCMethod {}

/// A message that gets no answer.
public protocol RPCNotification: Sendable {
  /// What it carries.
  associatedtype Params: RPCPayload
  /// `noun.what`.
  static var name: String { get }
  /// One sentence for the description that `rpc.discover` gives.
  static var summary: String { get }
  /// Whether it tells that the session holds something else than before. False unless a notification says otherwise.
  static var changesSession: Bool { get }
}

extension RPCNotification {
  /// False unless a notification says otherwise.
  public static var changesSession: Bool { false }
}

/// Params or a result: what a message carries.
///
/// What there are thousands a second of reads and writes itself, in the plain form of JSON; the rest is left to
/// `JSONDecoder` and `JSONEncoder`, which understand and mean the same. A requirement and not a cast, as a cast costs more
/// than what is read.
public protocol RPCPayload: Codable, Sendable {
  /// Reads it, in the plain form only; nil unless a type knows how.
  init?(from scanner: inout JSONScanner)
  /// Writes all of it, as one JSON value; with `JSONEncoder` unless a type knows better.
  func write(to writer: inout JSONWriter) throws
}

extension RPCPayload {
  /// Nothing is read.
  public init?(from scanner: inout JSONScanner) { return nil }

  /// Writes it with `JSONEncoder`.
  public func write(to writer: inout JSONWriter) throws { try writer.encode(self) }
}

/// Params or a result without members: `{}` on the wire.
public struct Empty: RPCPayload, Hashable {
  /// Makes the empty object.
  public init() {}
}

/// What a program may be allowed to do. Who may is said in the daemon's configuration (`docs/configuration.md`).
public enum Permission: String, Hashable, Sendable, CaseIterable {
  /// Hear advertisements.
  case scan
  /// Connect to devices, and use their services.
  case connect
  /// Publish services of its own.
  case serve
  /// Advertise.
  case advertise
  /// Pair with devices, and forget pairings.
  case pair
  /// Change adapters: power and the like.
  case adapters
  /// See the sessions of others.
  case sessions
}
