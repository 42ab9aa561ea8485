import BledRPC
import Bluetooth

/// A peripheral manager's advertisement.
///
/// | State    | Input                        | Effect                                                                 |
/// |----------|------------------------------|------------------------------------------------------------------------|
/// | off      | start                        | the daemon is asked → starting                                         |
/// | starting | start                        | the call waits                                                         |
/// | starting | it is on the air             | reported to the program, waiting calls are refused → on                |
/// | starting | refused                      | reported to the program; the first waiting call → starting, else → off |
/// | starting | stop                         | waiting calls are refused → off                                        |
/// | on       | start                        | refused                                                                |
/// | on       | stop                         | the daemon is asked → off                                              |
/// | on       | it ended for a reason        | → off                                                                  |
/// | off      | an earlier attempt succeeded | it is stopped                                                          |
/// | any      | Bluetooth is not available   | the daemon is asked to stop all → off                                  |
struct AdvertisingMachine {
  private enum State: Equatable {
    case off
    /// Requested; the number distinguishes attempts.
    case starting(Int)
    /// On the air under the daemon's number.
    case on(Int)
  }

  enum Action {
    /// Asks the daemon; the result belongs to this attempt.
    case start(AdvertisingStart.Params, attempt: Int)
    /// Stops the advertisement with this number; nil: all.
    case stop(Int?)
    /// Report to the program that it advertises, or the error.
    case started(BluetoothError?)
    /// Report to the program that it already advertises.
    case refuse
  }

  private var state = State.off
  private var attempts = 0
  /// Calls during an attempt, which are answered after it.
  private var waiting: [AdvertisingStart.Params] = []

  mutating func start(_ params: AdvertisingStart.Params) -> [Action] {
    switch state {
    case .off:
      attempts += 1
      state = .starting(attempts)
      return [.start(params, attempt: attempts)]
    case .starting:
      waiting.append(params)
      return []
    case .on:
      return [.refuse]
    }
  }

  /// The daemon has answered an attempt.
  /// - Parameter result: the advertisement's number.
  mutating func decided(_ attempt: Int, _ result: Result<Int, BluetoothError>) -> [Action] {
    guard state == .starting(attempt) else {
      return if case .success(let number) = result { [.stop(number)] } else { [] }
    }
    var actions: [Action]
    switch result {
    case .success(let number):
      state = .on(number)
      actions = [.started(nil)]
    case .failure(let error):
      state = .off
      actions = [.started(error)]
    }
    let waiting = waiting
    self.waiting = []
    for params in waiting { actions += start(params) }
    return actions
  }

  mutating func stop() -> [Action] {
    var actions: [Action] = []
    if case .on(let number) = state { actions.append(.stop(number)) }
    state = .off
    for _ in waiting { actions.append(.refuse) }
    waiting = []
    return actions
  }

  /// Bluetooth is no longer available; the program is notified by other means.
  mutating func end() -> [Action] {
    defer { (state, waiting) = (.off, []) }
    return state == .off ? [] : [.stop(nil)]
  }

  /// An advertisement kept by the daemon continues.
  mutating func restore(_ number: Int) { state = .on(number) }

  /// The daemon has ended the advertisement with this number.
  /// - Returns: true if it was the program's.
  mutating func ended(_ number: Int) -> Bool {
    guard state == .on(number) else { return false }
    state = .off
    return true
  }
}
