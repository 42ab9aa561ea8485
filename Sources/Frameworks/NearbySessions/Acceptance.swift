/// The acceptance of invitations, as requested by calls.
///
/// | Input        | Effect                                                          |
/// |--------------|-----------------------------------------------------------------|
/// | begin(call)  | wanted                                                          |
/// | end(call)    | wanted until a new value takes the place of this one            |
/// | cancel(call) | wanted only if another call has asked for it, or asks for it    |
struct Acceptance {
  private var isGiven = false
  private var calls: Set<Int> = []

  var isWanted: Bool { isGiven || !calls.isEmpty }

  mutating func begin(_ call: Int) { calls.insert(call) }

  mutating func end(_ call: Int) { if calls.remove(call) != nil { isGiven = true } }

  mutating func cancel(_ call: Int) { calls.remove(call) }
}
