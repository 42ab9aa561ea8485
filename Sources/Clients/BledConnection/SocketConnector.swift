import Bluetooth

/// Connects sessions to bled's socket.
package final class SocketConnector: DaemonConnector {
  private let path: () -> String
  private let waiter: any SocketWaiter

  /// - Parameter path: The path of the socket, evaluated for each connection.
  package init(path: @autoclosure @escaping () -> String, on waiter: any SocketWaiter) {
    self.path = path
    self.waiter = waiter
  }

  package func connect(_ session: DaemonSession) throws(BluetoothError) -> any DaemonTransport {
    let stream = try LineStream(connectedTo: path(), on: waiter)
    stream.line = { session.receive($0, $1) }
    stream.ended = { session.end($0) }
    stream.start()
    return stream
  }
}
