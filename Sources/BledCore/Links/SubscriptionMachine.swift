/// One characteristic of a device that sessions subscribe to together: who is sent its values, and what the device was last
/// told. Who joins is a member before the device is asked, so that nothing that comes early is lost; the device is told when
/// the member's turn on the link has come.
///
/// | State        | Input                                       | Outcome, next state      |
/// |--------------|---------------------------------------------|--------------------------|
/// | any          | join, leave                                 | a member, or none        |
/// | off, unknown | turn of one who joined                      | switch on → unknown      |
/// | on           | turn of one who joined                      | nothing to do            |
/// | on, unknown  | turn of one who left, nobody is a member    | switch off → unknown     |
/// | any          | turn of one who left, others are members    | nothing to do            |
/// | unknown      | the device has switched                     | → on, off                |
/// | unknown      | the device refuses                          | → off                    |
struct SubscriptionMachine<Who: Hashable> {
  private enum State { case off, unknown, on }

  /// Those whom values go to, in the order in which they came.
  private(set) var members: [Who] = []
  /// Whether somebody sees to it that the device is told when nobody is a member any more.
  var isBeingEnded = false
  private var state = State.off

  /// Whether it can be forgotten.
  var isIdle: Bool { members.isEmpty && state == .off }

  mutating func join(_ who: Who) {
    if !members.contains(who) { members.append(who) }
  }

  mutating func leave(_ who: Who) { members.removeAll { $0 == who } }

  /// Whether the device has to be told, at the turn of one who joined (`on`) or left.
  func mustSwitch(on: Bool) -> Bool { on ? state != .on : members.isEmpty && state != .off }

  /// The device is told.
  mutating func switching() { state = .unknown }

  /// The device has done what it was told.
  mutating func switched(on: Bool) { state = on ? .on : .off }

  /// The device does not do what it was told.
  mutating func refused() { state = .off }
}
