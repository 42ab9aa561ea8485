import Bluetooth

/// One characteristic of a device that sessions subscribe to together. The route of values exists before the device is
/// asked, so that nothing that comes early is lost.
///
/// | State     | Input                          | Actions, next state                                    |
/// |-----------|--------------------------------|--------------------------------------------------------|
/// | off       | subscribe                      | enable → enabling                                      |
/// | enabling  | subscribe                      | joins those that wait                                  |
/// | enabling  | written                        | answers them → on; disable → disabling if all have left |
/// | enabling  | written with an error          | refuses them → off                                     |
/// | on        | subscribe                      | answers                                                |
/// | on        | unsubscribe of the last one    | disable → disabling                                    |
/// | any       | unsubscribe while others stay  | answers                                                |
/// | disabling | subscribe                      | joins those that wait                                  |
/// | disabling | written, with an error or not  | answers those that left → off; enable → enabling if somebody waits |
/// | any       | void: the handle is another's now | answers all; to be forgotten                       |
struct SubscriptionMachine<Who: Hashable, Request> {
  enum Action {
    case enable
    case disable
    case answer(Request, BluetoothError?)
  }

  private enum State { case off, enabling, on, disabling }

  /// Those whom values go to, in the order in which they came.
  private(set) var members: [Who] = []
  private var state = State.off
  private var waiting: [(who: Who, request: Request)] = []
  private var leaving: [Request] = []

  /// Tells it from another one for the same handle, before or after.
  let number: Int

  init(number: Int = 0) { self.number = number }

  /// Whether it can be forgotten.
  var isOff: Bool { state == .off }

  mutating func subscribe(_ who: Who, _ request: Request) -> [Action] {
    if !members.contains(who) { members.append(who) }
    if state == .on { return [.answer(request, nil)] }
    waiting.append((who, request))
    guard state == .off else { return [] }
    state = .enabling
    return [.enable]
  }

  /// - Parameter request: nil if nobody waits for an answer.
  mutating func unsubscribe(_ who: Who, _ request: Request?) -> [Action] {
    members.removeAll { $0 == who }
    let cancelled = GAPError.cancelled.error("the subscription was taken back")
    var actions = waiting.filter { $0.who == who }.map { Action.answer($0.request, cancelled) }
    waiting.removeAll { $0.who == who }
    if state == .on, members.isEmpty {
      state = .disabling
      actions.append(.disable)
    }
    if let request {
      if state == .disabling, members.isEmpty { leaving.append(request) } else { actions.append(.answer(request, nil)) }
    }
    return actions
  }

  /// The characteristic is no more: whoever waits is answered.
  func void(_ error: BluetoothError) -> [Action] {
    waiting.map { .answer($0.request, error) } + leaving.map { .answer($0, nil) }
  }

  /// The device has answered to what it was last asked.
  mutating func written(_ error: BluetoothError?) -> [Action] {
    switch state {
    case .enabling:
      let actions = waiting.map { Action.answer($0.request, error) }
      waiting = []
      if error != nil {
        members = []
        state = .off
        return actions
      }
      state = members.isEmpty ? .disabling : .on
      return members.isEmpty ? actions + [.disable] : actions
    case .disabling:
      let actions = leaving.map { Action.answer($0, error) }
      leaving = []
      state = members.isEmpty ? .off : .enabling
      return members.isEmpty ? actions : actions + [.enable]
    case .off, .on:
      return []
    }
  }
}
