import Adapter

/// Chooses the bond to remove when there are too many, so that no user's pairings displace others' devices.
///
/// | Too many                                      | The bond that gives way is one of |
/// |-----------------------------------------------|-----------------------------------|
/// | of the user, or made by the policy            | the same                          |
/// | in total                                      | the user with the most            |
///
/// Among these, a bond without a link gives way, unauthenticated ones first, then the oldest. Where each
/// has a link, the new bond is not kept.
struct BondEviction {
  /// Maximum bonds.
  static let maximum = 256
  /// Maximum bonds per user other than root.
  static let maximumOfUser = 64
  /// Maximum bonds that devices made by the policy, without a user.
  static let maximumOfPolicy = 32

  struct Candidate {
    let bond: Bond
    let user: UInt32?
    let isLinked: Bool
  }

  /// The newest is first, the one that needs room.
  let candidates: [Candidate]

  /// The bond to remove; nil if there is room for all.
  var victim: Bond? {
    guard let new = candidates.first else { return nil }
    let own = candidates.filter { $0.user == new.user }
    if own.count > Self.share(of: new.user) { return Self.choose(own) ?? new.bond }
    guard candidates.count > Self.maximum else { return nil }
    let byUser = Dictionary(grouping: candidates.dropFirst()) { $0.user }.values
    let largest = byUser.sorted { $0.count > $1.count }
    return largest.lazy.compactMap { Self.choose([new] + $0) }.first ?? new.bond
  }

  private static func share(of user: UInt32?) -> Int {
    switch user {
    case 0: maximum
    case nil: maximumOfPolicy
    case _?: maximumOfUser
    }
  }

  /// - Parameter candidates: the new one, which is not chosen, and others.
  private static func choose(_ candidates: [Candidate]) -> Bond? {
    let free = candidates.dropFirst().filter { !$0.isLinked }
    return (free.last { $0.bond.security?.level ?? 1 < 3 } ?? free.last)?.bond
  }
}
