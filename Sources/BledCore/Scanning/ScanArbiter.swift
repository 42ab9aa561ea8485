import Adapter

/// Makes the wishes of all sessions on one adapter into the one scan that it runs.
///
/// | State   | Input                              | Action                          |
/// |---------|------------------------------------|---------------------------------|
/// | no scan | a wish                             | scan as wished                  |
/// | scan    | a wish changes what all together need | scan with the union          |
/// | scan    | a wish that changes nothing        | none                            |
/// | scan    | the last wish is taken back        | stop                            |
///
/// The union is active if anyone wants it active. An adapter that was away gets its scan back by itself.
struct ScanArbiter<Who: Hashable> {
  /// What the adapter is to do now.
  enum Action: Hashable {
    case none
    case set(ScanParameters?)
  }

  private var wishes: [Who: ScanParameters] = [:]
  private var wanted: ScanParameters?

  /// Whether scan responses are asked for.
  var isActive: Bool { wanted?.isActive ?? false }

  /// Sets or takes back (nil) the wish of one.
  mutating func wish(_ parameters: ScanParameters?, of who: Who) -> Action {
    wishes[who] = parameters
    let union = wishes.values.reduce(nil as ScanParameters?) { union, wish in
      guard var union else { return wish }
      union.isActive = union.isActive || wish.isActive
      // The wider window in proportion to its interval hears more.
      if wish.window.inSeconds * union.interval.inSeconds > union.window.inSeconds * wish.interval.inSeconds {
        union.window = wish.window
        union.interval = wish.interval
      }
      return union
    }
    guard union != wanted else { return .none }
    wanted = union
    return .set(union)
  }
}
