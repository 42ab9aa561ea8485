import Bluetooth

/// The description of a call that clients make.
public struct MethodDescription: Sendable {
  /// `noun.verb`.
  public let name: String
  /// The permission required of the caller; nil if every session may call it.
  public let permission: Permission?
  /// True if the call can change the session's resources.
  public let changesSession: Bool
  /// A short description for `rpc.discover`.
  public let summary: String

  /// - Parameter permission: has no default, so that no method is opened to every session by oversight.
  public init(_ name: String, needs permission: Permission?, changesSession: Bool = false, _ summary: String) {
    self.name = name
    self.permission = permission
    self.changesSession = changesSession
    self.summary = summary
  }
}

/// The description of a message that the daemon sends.
public struct MessageDescription: Sendable {
  /// `noun.verb` of a call, `noun.event` of a notification.
  public let name: String
  /// True if it reports a change of the session's resources.
  public let changesSession: Bool
  /// A short description for `rpc.discover`.
  public let summary: String

  /// Describes a message.
  public init(_ name: String, changesSession: Bool = false, _ summary: String) {
    self.name = name
    self.changesSession = changesSession
    self.summary = summary
  }
}

/// A call and its answer, described once for both sides: all other descriptions of a method are derived from its type.
/// Its doc comment and `summary` describe it; `ClientCall` and `DaemonCall` say which side calls it.
public protocol RPCMethod: Sendable {
  /// The parameters.
  associatedtype Params: RPCPayload
  /// The result.
  associatedtype Result: RPCPayload
  /// `noun.verb`.
  static var name: String { get }
  /// A short description for `rpc.discover`.
  static var summary: String { get }
}

/// A call that clients make.
public protocol ClientCall: RPCMethod {
  /// Its description.
  static var method: MethodDescription { get }
  /// Maximum length of a line with this call, in octets, without its line feed.
  static var longestLine: Int { get }
}

extension ClientCall {
  /// See `MethodDescription`.
  public static var name: String { method.name }
  /// See `MethodDescription`.
  public static var summary: String { method.summary }
  /// 64 KiB by default.
  public static var longestLine: Int { ordinaryLine }
}

/// Maximum length of an ordinary client's line, in octets, without its line feed: 64 KiB.
public let ordinaryLine = 64 << 10

/// A call made by the daemon: it asks a session for information that only its program has.
public protocol DaemonCall: RPCMethod {
  /// Its description.
  static var message: MessageDescription { get }
}

extension DaemonCall {
  /// See `MessageDescription`.
  public static var name: String { message.name }
  /// See `MessageDescription`.
  public static var summary: String { message.summary }
}

/// A message without an answer.
public protocol RPCNotification: Sendable {
  /// The parameters.
  associatedtype Params: RPCPayload
  /// `noun.event`.
  static var name: String { get }
  /// Its description.
  static var message: MessageDescription { get }
}

extension RPCNotification {
  /// See `MessageDescription`.
  public static var name: String { message.name }
}

/// Params or a result: the contents of a message.
///
/// A type used thousands of times a second reads and writes itself, in the plain form of JSON; the rest is left to
/// `JSONReader` and `JSONMemberEncoder`, with the same meaning. This is a requirement and not a cast, because a cast
/// costs more than the reading.
public protocol RPCPayload: Codable, Sendable {
  /// Reads it, in the plain form only; nil unless the type supports that.
  init?(from scanner: inout JSONScanner)
  /// Writes all of it, as one JSON value; with `JSONMemberEncoder` unless a type knows better.
  func write(to writer: inout JSONWriter) throws
}

extension RPCPayload {
  /// Nothing is read.
  public init?(from scanner: inout JSONScanner) { return nil }

  /// Writes it with `JSONMemberEncoder`.
  public func write(to writer: inout JSONWriter) throws { try writer.encode(self) }
}

/// Params or a result without members: `{}` on the wire.
public struct Empty: RPCPayload, Hashable {
  /// Makes the empty object.
  public init() {}
}

/// A class of calls that a program can be permitted to make. The daemon's configuration grants them
/// (`docs/configuration.md`).
public enum Permission: String, Vocabulary {
  /// Receive advertisements.
  case scan
  /// Connect to devices, and use their services.
  case connect
  /// Publish services of its own.
  case serve
  /// Advertise.
  case advertise
  /// Pair with devices, and forget pairings.
  case pair
  /// Know the paired devices; `pair` includes it.
  case bonds
  /// Answer pairing questions that concern other users.
  case agent
  /// Change adapters: power and the like.
  case adapters
  /// See the sessions of others.
  case sessions
  /// Open sessions in the name of other users.
  case impersonate
  /// Record the packets of all programs.
  case capture
  /// Command simulated devices and their clock.
  case simulation
}
