/// Gives sessions to connecting programs.
protocol SessionOpener: AnyObject {
  /// The permissions and limits of users.
  var rules: Rules { get }

  /// A program has connected.
  func open(_ transport: any SessionTransport, credentials: PeerCredentials?) -> SessionConnection

  /// Its connection has ended.
  func closed(_ connection: SessionConnection)
}
