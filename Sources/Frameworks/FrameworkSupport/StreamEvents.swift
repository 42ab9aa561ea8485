import Dispatch
import Foundation

/// The common part of a channel's two streams: watches the socket while necessary, and calls the stream's delegate in
/// the run loops scheduled for it.
///
/// Foundation's own streams cannot be made on a socket on Linux, and it shows no run loop sources. In each run loop
/// there is a timer: it makes the run loop stay, and moving its date calls it from any thread.
package final class StreamEvents: @unchecked Sendable {
  private struct Place {
    let loop: RunLoop
    let mode: RunLoop.Mode
    let timer: Timer
  }

  /// The stream, whose delegate is called.
  weak var stream: Stream?
  /// Called on any thread when the end was found.
  package var onEnd: (() -> Void)?
  private let socket: DispatchSocket
  private let direction: DispatchSocket.Direction
  private let lock = NSLock()
  private var machine: StreamMachine
  private var places: [Place] = []
  /// The wait for the next event, each with its own source: a suspended and resumed one is not always called again on
  /// Linux.
  private var source: (any DispatchSourceProtocol)?

  init(_ socket: DispatchSocket, _ direction: DispatchSocket.Direction) {
    self.socket = socket
    self.direction = direction
    machine = StreamMachine(ready: direction == .input ? .hasBytesAvailable : .hasSpaceAvailable)
  }

  deinit {
    close()
    source?.cancel()
  }

  var status: Stream.Status { lock.withLock { machine.status } }
  var error: NSError? { lock.withLock { machine.error } }

  /// True if a read or a write would not wait.
  var isReady: Bool {
    guard status == .open else { return false }
    if case .nothing = socket.look(direction) { return false }
    return true
  }

  func open() {
    lock.withLock { machine.open() }
    wake()
  }

  func close() {
    let ended = lock.withLock {
      defer { machine.close() }
      return machine.status == .closed ? nil : places
    }
    guard let ended else { return }
    socket.end(direction)
    for place in ended { remove(from: place.loop, place.mode) }
  }

  /// Reads or writes.
  /// - Returns: The number of octets passed; 0 at the end, −1 if it failed or the stream is not open.
  func pass(_ body: () -> StreamMachine.Finding) -> Int {
    switch status {
    case .open: break
    case .atEnd: return direction == .input ? 0 : -1
    default: return -1
    }
    let finding = body()
    update { $0.found(finding) }
    switch finding {
    case .ready(let count): return count
    case .end: return 0
    case .nothing, .failed: return -1
    }
  }

  /// The channel's other stream is at its end.
  package func otherEnded() {
    if case .end = socket.look(direction) { update { $0.found(.end) } }
  }

  /// The delegate is another.
  func delegateChanged() { wake() }

  // MARK: Run loops

  func schedule(in loop: RunLoop, _ mode: RunLoop.Mode) {
    // The timer never fires by itself.
    let timer = Timer(fire: .distantFuture, interval: .greatestFiniteMagnitude, repeats: true) { [weak self] timer in
      guard let self, isUsed(timer) else { return timer.invalidate() }
      deliver()
    }
    lock.withLock { places.append(Place(loop: loop, mode: mode, timer: timer)) }
    loop.add(timer, forMode: mode)
    wake()
  }

  func remove(from loop: RunLoop, _ mode: RunLoop.Mode) {
    let gone = lock.withLock {
      let gone = places.filter { $0.loop === loop && $0.mode == mode }
      places.removeAll { $0.loop === loop && $0.mode == mode }
      return gone
    }
    // In a run loop at work elsewhere it ends itself: a waiting one would not see that it is empty.
    let isAtWork = loop !== RunLoop.current && loop.currentMode != nil
    for place in gone { if isAtWork { place.timer.fireDate = Date() } else { place.timer.invalidate() } }
  }

  private func isUsed(_ timer: Timer) -> Bool { lock.withLock { places.contains { $0.timer === timer } } }

  /// Calls `deliver` in the run loops.
  private func wake() {
    for place in lock.withLock({ places }) { place.timer.fireDate = Date() }
  }

  /// Reports events to the delegate, each kind of readiness at most once: the rest of the run loop has its turn.
  private func deliver() {
    while let stream, let delegate = stream.delegate {
      let before = status
      guard let event = lock.withLock({ machine.next { socket.look(direction) } }) else { break }
      if before != .atEnd, status == .atEnd { onEnd?() }
      delegate.stream(stream, handle: event)
      if event == .hasBytesAvailable || event == .hasSpaceAvailable { break }
    }
    // Without a delegate nothing is reported: it would be called repeatedly.
    if stream?.delegate != nil { watch() }
  }

  /// Changes the machine, and notifies the delegate.
  private func update(_ body: (inout StreamMachine) -> Void) {
    let before = status
    lock.withLock { body(&machine) }
    let after = status
    if after == .open { watch() } else { wake() }
    if before != .atEnd, after == .atEnd { onEnd?() }
  }

  // MARK: The socket

  private func watch() {
    lock.withLock {
      guard machine.isWatching, !places.isEmpty, source == nil else { return }
      let source = socket.makeSource(direction, on: DispatchQueue(label: "bled.channel"))
      self.source = source
      source.setEventHandler { [weak self] in self?.fired() }
      // The socket must not be closed while it is watched, nor watched by two: they share a registration.
      source.setCancelHandler { [weak self, socket] in withExtendedLifetime(socket) { self?.ended() } }
      source.resume()
    }
  }

  private func fired() { lock.withLock { source }?.cancel() }

  private func ended() {
    lock.withLock { source = nil }
    wake()
  }
}
