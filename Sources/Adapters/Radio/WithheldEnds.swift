import Adapter

/// The ends of a scan and of advertisements that programs are not told of: both go on after a pause, under another
/// address of the controller.
package struct WithheldEnds: Hashable, Sendable {
  /// Whether the scan has ended.
  package private(set) var scan = false
  /// The advertisements that have ended.
  package private(set) var sets: Set<AdvertisingSetID> = []

  package init() {}

  /// - Returns: whether this is such an end, which is noted.
  package mutating func withhold(_ action: RadioAction) -> Bool {
    switch action {
    case .scanning(false): scan = true
    case .advertising(let set, .off): sets.insert(set)
    default: return false
    }
    return true
  }
}
