import BledConnection
import Dispatch
private import Glibc

/// Sockets that are watched on a queue.
final class QueueSockets: SocketWaiter {
  private let queue: DispatchQueue

  init(_ queue: DispatchQueue) { self.queue = queue }

  func watch(_ socket: Socket, _ ready: @escaping (SocketReadiness) -> Void) -> any SocketWatch {
    QueueWatch(socket, queue, ready)
  }

  func later(_ work: @escaping () -> Void) {
    // The queue is its one place.
    nonisolated(unsafe) let work = work
    queue.async { work() }
  }
}

/// Used on its queue alone.
private final class QueueWatch: SocketWatch, @unchecked Sendable {
  private let socket: Socket
  private let queue: DispatchQueue
  private let ready: (SocketReadiness) -> Void
  private var reader: (any DispatchSourceRead)?
  private var writer: (any DispatchSourceWrite)?
  /// More octets are read in a later turn of the queue.
  private var isAwaitingTurn = false

  init(_ socket: Socket, _ queue: DispatchQueue, _ ready: @escaping (SocketReadiness) -> Void) {
    (self.socket, self.queue, self.ready) = (socket, queue, ready)
  }

  deinit {
    reader?.cancel()
    writer?.cancel()
  }

  var interest: SocketReadiness = [] {
    didSet {
      if interest.contains(.reading), reader == nil { reader = makeReader() }
      if interest.contains(.writing), writer == nil { writer = makeWriter() }
      if !interest.contains(.reading) { reader.take()?.cancel() }
      if !interest.contains(.writing) { writer.take()?.cancel() }
    }
  }

  private func makeReader() -> any DispatchSourceRead {
    let reader = DispatchSource.makeReadSource(fileDescriptor: socket.descriptor, queue: queue)
    reader.setEventHandler { [weak self] in self?.readable() }
    // A descriptor must not be closed while a source watches it.
    reader.setCancelHandler { [socket] in withExtendedLifetime(socket) {} }
    reader.activate()
    return reader
  }

  /// The source reports a hang-up once, and nothing after it: octets are read until there are none.
  private func readable() {
    ready(.reading)
    guard interest.contains(.reading), !isAwaitingTurn, isReadable else { return }
    isAwaitingTurn = true
    queue.async { [weak self] in
      self?.isAwaitingTurn = false
      self?.readable()
    }
  }

  private var isReadable: Bool {
    var state = pollfd(fd: socket.descriptor, events: Int16(POLLIN), revents: 0)
    return poll(&state, 1, 0) > 0
  }

  private func makeWriter() -> any DispatchSourceWrite {
    // Two sources on one number share its registration with epoll(7), and may miss earlier readiness.
    let number = socket.duplicate()
    let writer = DispatchSource.makeWriteSource(fileDescriptor: number ?? socket.descriptor, queue: queue)
    writer.setEventHandler { [weak self] in self?.ready(.writing) }
    writer.setCancelHandler { [socket] in withExtendedLifetime(socket) { if let number { Glibc.close(number) } } }
    writer.activate()
    return writer
  }
}
