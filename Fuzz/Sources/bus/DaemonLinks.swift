import Adapter
import BledConnection
import BledCore
import BlueZ
import BledRPC
import Bluetooth

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Connects the facade's sessions to a daemon in the same process.
final class DaemonLinks: DaemonConnector {
  private let daemon: Daemon
  private let scheduler: VirtualScheduler

  init(_ daemon: Daemon, _ scheduler: VirtualScheduler) { (self.daemon, self.scheduler) = (daemon, scheduler) }

  func connect(_ session: DaemonSession) throws(BluetoothError) -> any DaemonTransport {
    DaemonLink(daemon, scheduler, session)
  }
}

/// One connection. Both sides hear of the other later, as over a socket.
private final class DaemonLink: DaemonTransport {
  private let scheduler: VirtualScheduler
  private let session: DaemonSession
  private let end = DaemonEnd()
  private var connection: SessionConnection?

  init(_ daemon: Daemon, _ scheduler: VirtualScheduler, _ session: DaemonSession) {
    self.scheduler = scheduler
    self.session = session
    end.linesCame = { [weak self] in self?.later { $0.read() } }
    end.closed = { [weak self] in self?.later { $0.lose() } }
    connection = daemon.open(end, credentials: PeerCredentials(process: 1, user: 0, group: 0))
  }

  func send(_ line: Data) { later { $0.connection?.receive(line.dropLast()) } }

  func close() {
    guard let connection else { return }
    self.connection = nil
    _ = scheduler.schedule(after: .zero) {
      connection.receive(Data(#"{"jsonrpc":"2.0","method":"session.end"}"#.utf8))
    }
  }

  private func read() {
    while let lines = connection?.removeLines().lines, !lines.isEmpty {
      for line in lines where connection != nil { session.receive(line.dropLast(), nil) }
    }
  }

  /// The daemon has closed.
  private func lose() {
    read()
    guard connection != nil else { return }
    connection = nil
    session.end(BledError.daemonUnreachable.error("the daemon has closed"))
  }

  private func later(_ work: @escaping (DaemonLink) -> Void) {
    _ = scheduler.schedule(after: .zero) { [weak self] in self.map(work) }
  }
}

/// The daemon's side of a connection.
private final class DaemonEnd: SessionTransport {
  var linesCame: () -> Void = {}
  var closed: () -> Void = {}

  func linesWait() { linesCame() }
  func reportsWait() { linesCame() }
  func setReading(_ wanted: Bool) {}
  func close() { closed() }
}
