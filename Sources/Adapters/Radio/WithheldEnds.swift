import Adapter

/// The ends of scans and advertisements withheld from programs: both continue after a pause, under another controller
/// address.
package struct WithheldEnds: Hashable, Sendable {
  /// True if the scan has ended.
  package private(set) var scan = false
  /// The ended advertisements.
  package private(set) var sets: Set<AdvertisingSetID> = []

  package init() {}

  /// - Returns: true for such an end, which is recorded.
  package mutating func withhold(_ action: RadioAction) -> Bool {
    switch action {
    case .scanning(false): scan = true
    case .advertising(let set, .off): sets.insert(set)
    default: return false
    }
    return true
  }
}
