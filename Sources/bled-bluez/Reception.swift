import BlueZ
import EventLoop

/// Between the bus and the facade: calls wait while there is something to read from the bus or from bled, so that the
/// programs take turns and not the calls. Those of programs that do not read their answers wait until they have.
final class Reception {
  /// The number of calls that may come until one is handled in any case.
  private static let portion = 64

  private let bus: SystemBus
  private let handle: (BusCall) -> Void
  private var turns = CallTurns()
  private var arrived = 0
  private var work: DeferredWork?

  init(_ bus: SystemBus, on loop: EventLoop, _ handle: @escaping (BusCall) -> Void) throws(EventLoopError) {
    self.bus = bus
    self.handle = handle
    work = try DeferredWork(on: loop) { [unowned self] in next() }
    bus.outbox.roomCame = { [weak self] in self?.work?.request() }
  }

  func receive(_ call: BusCall, size: Int) {
    guard turns.add(call, size: size) else {
      return bus.fail(call, .limitsExceeded("too many calls of this program wait"))
    }
    arrived += 1
    if arrived < Self.portion { work?.request() } else { next() }
  }

  /// A program has left the bus.
  func left(_ program: String) { turns.remove(program) }

  private func next() {
    arrived = 0
    guard let call = turns.next(where: bus.outbox.mayGoOn) else { return }
    handle(call)
    if !turns.isEmpty { work?.request() }
  }
}
