import BledConnection

/// A connection to Home Assistant that is being made. It ends with its last reference.
final class OutgoingSocket {
  private let socket: Socket
  private let waiter: any SocketWaiter
  private let connected: (Result<Socket, Errno>) -> Void
  private var watch: (any SocketWatch)?

  /// - Parameter connected: called once, never from inside this call.
  init(
    to address: ListenAddress, on waiter: any SocketWaiter, _ connected: @escaping (Result<Socket, Errno>) -> Void
  ) throws(Errno) {
    socket = try address.connect()
    self.waiter = waiter
    self.connected = connected
    watch = try waiter.watch(socket) { [unowned self] _ in ready() }
    watch?.interest = .writing
  }

  private func ready() {
    guard watch != nil else { return }
    watch = nil
    // The watch exists until this call has returned, and a socket has one at a time.
    waiter.later { [weak self] in
      guard let self else { return }
      connected(socket.fetchError().map(Result.failure) ?? .success(socket))
    }
  }
}
