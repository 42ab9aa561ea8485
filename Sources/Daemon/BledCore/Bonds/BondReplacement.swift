import Adapter

/// Decides if new keys may replace a bond's keys.
///
/// | The new keys                     | may replace them if                                                  |
/// |----------------------------------|----------------------------------------------------------------------|
/// | authenticated, protect as well   | always: they exclude a man in the middle                             |
/// | unauthenticated, protect as well | no other user relies on the bond, or root or a trusted agent decides |
/// | … and a program wanted more      | the same, and an agent agreed, knowing of the bond                   |
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
  /// The level requested by a program replacing the bond.
  let wanted: Int?

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
    guard consenter == nil else { return nil }
    // Any device can show the address of the bond's, and pair without a check.
    if let wanted, new.security?.level ?? 1 < wanted {
      return "the new keys do not reach the requested level: the earlier ones stay"
    }
    return isWeaker ? "the new keys protect less than the earlier ones: forget the earlier ones first" : nil
  }
}
