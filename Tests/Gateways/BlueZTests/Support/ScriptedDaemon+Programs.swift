import SessionTestSupport

extension ScriptedDaemon {
  /// The open sessions of a program.
  func sessions(of name: String) -> [Session] { sessions.filter { $0.name == "org.bluez \(name)" && !$0.isClosed } }
}
