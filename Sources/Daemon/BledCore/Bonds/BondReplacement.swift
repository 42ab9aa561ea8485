import Adapter

/// Decides if new keys may replace a bond's keys.
///
/// | The new keys                     | may replace them if                                                  |
/// |----------------------------------|----------------------------------------------------------------------|
/// | authenticated, protect as well   | always: they exclude a man in the middle                             |
/// | unauthenticated, protect as well | no other user relies on the bond, or root or a trusted agent decides |
/// | protect less                     | the same, and an agent agreed, knowing of the bond                   |
struct BondReplacement {
  let old: Bond
  let new: Bond
  /// The users relying on the bond.
  let users: Set<UInt32>
  /// The agent that agreed, knowing about the replaced bond.
  let consenter: Session?
  /// The session that caused the pairing.
  let cause: Session?

  /// The reason to refuse; nil if they may.
  var refusal: String? {
    guard old.longTermKeys != new.longTermKeys else { return nil }
    let isWeaker = new.isWeaker(than: old)
    guard isWeaker || new.security?.level ?? 1 < 3 else { return nil }
    let decider = consenter ?? cause
    let isTrusted = decider?.answersForOthers ?? false
    guard isTrusted || users.allSatisfy({ $0 == decider?.user }) else {
      return "it would replace keys that another user relies on: that user or root forgets them first, or agrees"
    }
    guard isWeaker, consenter == nil else { return nil }
    return "the new keys protect less than the earlier ones: forget the earlier ones first"
  }
}
