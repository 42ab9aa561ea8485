/// What carries a connection's lines: a socket, or an array in a test.
public protocol SessionTransport: AnyObject {
  /// Lines wait. Call `SessionConnection.takeLines` soon, but not from inside this call, until it gives nothing.
  func linesWait()
  /// Whether lines of the client are wanted for now; while false, none is to be handed to `SessionConnection.receive`.
  func setReading(_ wanted: Bool)
  /// Ends the connection, after the lines that wait have been written as far as the client takes them.
  func close()
}

/// Who is at the other end of a socket, as the kernel tells it (`SO_PEERCRED`, unix(7)); laid out as `struct ucred`.
public struct PeerCredentials: Hashable, Sendable {
  /// The process.
  public var process: Int32
  /// Its effective user.
  public var user: UInt32
  /// Its effective group.
  public var group: UInt32

  /// Makes credentials.
  public init(process: Int32, user: UInt32, group: UInt32) {
    self.process = process
    self.user = user
    self.group = group
  }
}
