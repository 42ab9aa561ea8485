import Adapter
import Bluetooth

/// The power of a simulated adapter: the requests of its owner, and the state of the controller.
struct SimulatedPower {
  /// True if the owner uses the adapter.
  private(set) var isStarted = false
  /// True if the controller is plugged in.
  var isPresent = true
  /// The reason why the controller cannot be used.
  var problem: AdapterProblem?
  private var isOn = true
  private var waiters: [(isOn: Bool, done: (BluetoothError?) -> Void)] = []
  private var stopWaiters: [() -> Void] = []

  /// True if the controller is present and works.
  var isSound: Bool { isPresent && problem == nil }

  /// The state that the adapter is to have.
  var wanted: AdapterState {
    guard isStarted, isPresent else { return .absent }
    if let problem { return .failed(problem) }
    return isOn ? .on : .off
  }

  mutating func start() { isStarted = true }

  /// - Parameter done: called once the adapter is stopped.
  mutating func stop(_ done: @escaping () -> Void) {
    isStarted = false
    stopWaiters.append(done)
  }

  /// - Parameter done: called once the power is switched, or with the reason for a failure.
  mutating func set(_ on: Bool, _ done: @escaping (BluetoothError?) -> Void) {
    isOn = on
    waiters.append((on, done))
  }

  /// The calls that this state answers, in their order.
  mutating func answers(in state: AdapterState) -> [() -> Void] {
    let waiters = waiters
    self.waiters = []
    var answers: [() -> Void] = []
    for waiter in waiters {
      switch state {
      case .on where waiter.isOn, .off where !waiter.isOn: answers.append { waiter.done(nil) }
      case .starting where waiter.isOn: self.waiters.append(waiter)
      case .absent:
        answers.append { waiter.done(GAPError.adapterAbsent.error("the adapter is not present: plug it in")) }
      case .failed(let problem):
        answers.append {
          waiter.done(GAPError.adapterFailed.error(problem.text))
        }
      case .on, .off, .starting, .suspended:
        answers.append {
          waiter.done(GAPError.cancelled.error("the adapter's power was switched the other way in the meantime"))
        }
      }
    }
    return answers
  }

  /// The calls waiting for the adapter's stop, in their order.
  mutating func stopAnswers() -> [() -> Void] {
    defer { stopWaiters = [] }
    return stopWaiters
  }
}
