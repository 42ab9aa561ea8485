import BledRPC
import Bluetooth

/// The advertisement of a peripheral manager.
///
/// | State    | Input                          | Effect                                                             |
/// |----------|--------------------------------|--------------------------------------------------------------------|
/// | off      | start                          | the daemon is asked → starting                                     |
/// | starting | start                          | the call waits                                                     |
/// | starting | it is on the air               | the program is told, waiting calls are refused → on                |
/// | starting | refused                        | the program is told; the first waiting call → starting, else → off |
/// | starting | stop                           | waiting calls are refused → off                                    |
/// | on       | start                          | refused                                                            |
/// | on       | stop                           | the daemon is asked → off                                          |
/// | on       | it ended for a reason          | → off                                                              |
/// | off      | an earlier attempt succeeded   | it is stopped                                                      |
/// | any      | Bluetooth is not available     | the daemon is asked to stop all → off                              |
struct AdvertisingMachine {
  private enum State: Equatable {
    case off
    /// Asked for; the number tells attempts apart.
    case starting(Int)
    /// On the air under the daemon's number.
    case on(Int)
  }

  enum Action {
    /// Asks the daemon; the result belongs to this attempt.
    case start(AdvertisingStart.Params, attempt: Int)
    /// Stops the advertisement of this number; nil: all.
    case stop(Int?)
    /// The program is told that it advertises, or why not.
    case started(BluetoothError?)
    /// The program is told that it already advertises.
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
  /// - Parameter result: the number of the advertisement.
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

  /// Bluetooth is not available any more; the program is told that otherwise.
  mutating func end() -> [Action] {
    defer { (state, waiting) = (.off, []) }
    return state == .off ? [] : [.stop(nil)]
  }

  /// An advertisement that the daemon kept goes on.
  mutating func restore(_ number: Int) { state = .on(number) }

  /// The daemon has ended the advertisement of a number.
  /// - Returns: whether the program's was it.
  mutating func ended(_ number: Int) -> Bool {
    guard state == .on(number) else { return false }
    state = .off
    return true
  }
}
