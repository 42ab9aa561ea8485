import BledConnection
import Bluetooth
import EventLoop

/// Sockets that are watched on an event loop.
package final class LoopSockets: SocketWaiter {
  private let loop: EventLoop
  private let isPaused: () -> Bool

  /// - Parameter isPaused: returns true to stop reading for now: octets wait at the peers. It is called every 5 ms.
  package init(_ loop: EventLoop, isPaused: @escaping () -> Bool = { false }) {
    self.loop = loop
    self.isPaused = isPaused
  }

  package func watch(
    _ socket: Socket, _ ready: @escaping (SocketReadiness) -> Void
  ) throws(Errno) -> any SocketWatch {
    do throws(EventLoopError) {
      return try LoopWatch(socket, loop, isPaused, ready)
    } catch {
      throw Errno(code: error.code)
    }
  }

  package func later(_ work: @escaping () -> Void) { loop.execute(work) }
}

private final class LoopWatch: SocketWatch {
  private static let pause = Duration.milliseconds(5)

  private let socket: Socket
  private let loop: EventLoop
  private let isPaused: () -> Bool
  private let ready: (SocketReadiness) -> Void
  private var watch: Watch?
  private var resumption: (any ScheduledWork)?

  init(
    _ socket: Socket, _ loop: EventLoop, _ isPaused: @escaping () -> Bool,
    _ ready: @escaping (SocketReadiness) -> Void
  ) throws(EventLoopError) {
    (self.socket, self.loop, self.isPaused, self.ready) = (socket, loop, isPaused, ready)
    watch = try Watch(socket.descriptor, on: loop) { [unowned self] in handle($0) }
    watch?.isEnabled = false
  }

  deinit {
    watch?.cancel()
    resumption?.cancel()
  }

  var interest: SocketReadiness = [] { didSet { if interest != oldValue { update() } } }

  private func update() {
    var told: Watch.Readiness = []
    if interest.contains(.reading) { told.insert(.readable) }
    if interest.contains(.writing) { told.insert(.writable) }
    watch?.interest = told
    watch?.isEnabled = !interest.isEmpty && resumption == nil
  }

  private func handle(_ readiness: Watch.Readiness) {
    withExtendedLifetime(self) {
      var all: SocketReadiness = []
      if readiness.contains(.writable) { all.insert(.writing) }
      if !readiness.isDisjoint(with: [.readable, .failed]) {
        if isPaused() { pause() } else { all.insert(.reading) }
      }
      if !all.isEmpty { ready(all) }
    }
  }

  /// Neither reads nor writes for a moment.
  private func pause() {
    resumption = loop.schedule(after: Self.pause) { [weak self] in
      self?.resumption = nil
      self?.update()
    }
    update()
  }
}
