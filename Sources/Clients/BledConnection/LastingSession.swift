import BledRPC
import Bluetooth

/// A session of bled that is reopened, trying each second, after bled has ended.
package final class LastingSession {
  /// The pause before bled is tried again.
  private static let pause = Duration.seconds(1)

  /// bled has accepted the session, at first or again.
  package var began: (SessionOpen.Result) -> Void = { _ in }
  /// An event: its name and message.
  package var notified: (String, RPCMessage) -> Void = { _, _ in }
  /// The session is lost, or could not be opened; `began` follows once bled is available.
  package var lost: (BluetoothError) -> Void = { _ in }
  /// Called after each message, once its effects are complete.
  package var handled: () -> Void = {}

  /// The session, while bled has accepted it.
  package private(set) var session: DaemonSession?
  /// The session from its first line on.
  private var opening: DaemonSession?
  private let name: String
  private let connector: any DaemonConnector
  private let clock: any Scheduler
  private var retry: (any ScheduledWork)?

  /// - Parameter name: the name that `session.list` and the log show.
  package init(named name: String, _ connector: any DaemonConnector, _ clock: any Scheduler) {
    self.name = name
    self.connector = connector
    self.clock = clock
  }

  package func start() {
    let session = DaemonSession(
      connector, clock,
      DaemonSession.Observer(
        notified: { [unowned self] in notified($0, $1) },
        asked: { [unowned self] id, method, _ in
          opening?.refuse(
            id, RPCError(code: RPCError.methodNotFound, message: "this client does not answer \(method)"))
        },
        ended: { [unowned self] in ended($0) },
        handled: { [unowned self] in handled() }))
    opening = session
    session.call(SessionOpen.self, SessionOpen.Params(name: name)) { [weak self, unowned session] result in
      guard let self else { return }
      switch result {
      case .success(let opened):
        self.session = session
        began(opened)
      case .failure(let error):
        // Without an answer the session has ended, and `ended` has been called.
        guard session.isOpen else { return }
        session.close()
        failed(error)
      }
    }
  }

  private func ended(_ error: BluetoothError?) {
    (session, opening) = (nil, nil)
    if let error { failed(error) }
  }

  private func failed(_ error: BluetoothError) {
    lost(error)
    retry = clock.schedule(after: Self.pause) { [weak self] in self?.start() }
  }

  package func close() {
    retry?.cancel()
    opening?.close()
  }
}
