import BledRPC
import Bluetooth

/// A program on the bus that has called a method which concerns bled: one unique name, with one session of bled.
final class BusClient {
  /// The user and the process, as the bus knows them.
  struct Credentials {
    var user: UInt32
    var groups: [UInt32]
    var process: Int32
  }

  /// Its unique name, ":1.42".
  let name: String
  let credentials: Credentials
  private let context: Context
  private unowned let clients: Clients
  private var current: DaemonSession?

  init(_ name: String, _ credentials: Credentials, context: Context, clients: Clients) {
    self.name = name
    self.credentials = credentials
    self.context = context
    self.clients = clients
  }

  /// Its session, which is opened by its first use. If bled cannot be reached, calls in it fail at once.
  var session: DaemonSession {
    if let current, current.isOpen { return current }
    let session = DaemonSession(
      context,
      DaemonSession.Observer(
        notified: { [unowned self] in clients.observer?.notified(self, $0, $1) },
        asked: { [unowned self] in clients.observer?.asked(self, $0, $1, $2) },
        ended: { [unowned self] in sessionEnded($0) }))
    current = session
    let user = Principal(id: credentials.user, groups: credentials.groups, process: Int(credentials.process))
    session.tell(SessionOpen.self, SessionOpen.Params(name: "org.bluez \(name)", user: user))
    return session
  }

  var hasSession: Bool { current?.isOpen == true }

  func close() { current?.close() }

  private func sessionEnded(_ error: BluetoothError?) {
    current = nil
    // Nil: the program has left the bus.
    if error != nil { clients.observer?.lostSession(self) }
  }
}
