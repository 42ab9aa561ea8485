/// What carries a connection's lines: a socket, or an array in a test.
public protocol SessionTransport: AnyObject {
  /// Lines wait. Call `SessionConnection.takeLines` soon, but not from inside this call, until it gives nothing.
  func linesWait()
  /// Whether lines of the client are wanted for now; while false, none is to be handed to `SessionConnection.receive`.
  func setReading(_ wanted: Bool)
  /// Ends the connection, after the lines that wait have been written as far as the client takes them.
  func close()
}
