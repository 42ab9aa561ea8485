import BlueZ
import EventLoop

/// The calls between the bus and the facade: they wait while the bus or bled has more to read, so that the users and
/// their programs take turns and not the calls. The calls of a program with unread answers wait until it has read them.
final class Reception {
  /// Maximum calls received until one is handled in any case.
  private static let portion = 64

  private static let tooMany = BusError.limitsExceeded(
    "too many calls of this program or user wait, or the call is too large")

  private let bus: SystemBus
  private let callers: Callers
  private let handle: (BusCall) -> Void
  private var turns = CallTurns()
  private var refusals = Refusals()
  private var arrived = 0
  private var work: DeferredWork?

  init(
    _ bus: SystemBus, _ callers: Callers, on loop: EventLoop, _ handle: @escaping (BusCall) -> Void
  ) throws(EventLoopError) {
    self.bus = bus
    self.callers = callers
    self.handle = handle
    work = try DeferredWork(on: loop) { [unowned self] in next() }
    bus.outbox.user = { [callers] in callers.user(of: $0) }
    bus.outbox.roomCame = { [weak self] in self?.work?.request() }
  }

  func receive(_ call: BusCall, size: Int) {
    let user = callers.user(of: call.sender)
    guard turns.add(call, size: size, of: user) else {
      return refuse(call, Self.tooMany)
    }
    if user == nil { identify(call.sender) }
    arrived += 1
    if arrived < Self.portion { work?.request() } else { next() }
  }

  /// Refuses a call, once the caller's user is known.
  func refuse(_ call: BusCall, _ error: BusError) {
    guard callers.user(of: call.sender) == nil else { return bus.refuse(call, error) }
    identify(call.sender)
    if !refusals.add(call, error) { bus.drop(call) }
  }

  private func identify(_ program: String) {
    guard refusals.begin(program) else { return }
    callers.identify(program) { [weak self] in self?.identified(program, $0) }
  }

  private func identified(_ program: String, _ credentials: Credentials?) {
    if let credentials {
      for call in turns.identified(program, of: credentials.user) { bus.refuse(call, Self.tooMany) }
    } else {
      for call in turns.remove(program) {
        bus.refuse(call, .limitsExceeded("the bus does not know the caller's user"))
      }
    }
    for (call, error) in refusals.end(program) { bus.refuse(call, error) }
    if !turns.isEmpty { work?.request() }
  }

  /// A program has left the bus.
  func left(_ program: String) {
    turns.remove(program)
    refusals.end(program)
  }

  private func next() {
    arrived = 0
    guard let call = turns.next(where: bus.outbox.mayGoOn) else { return }
    handle(call)
    if !turns.isEmpty { work?.request() }
  }
}
