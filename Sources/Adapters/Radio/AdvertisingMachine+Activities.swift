import Bluetooth
import HCI

/// The advertisements as activities of the controller.
extension AdvertisingMachine {
  /// The kinds of advertisements that are wanted and can be sent.
  var activities: Set<LEStates.Activity> {
    Set(entries.values.compactMap { $0.activity(with: capabilities) })
  }

  /// The activities of the controller, as far as known, and the ones being set up.
  var running: Set<LEStates.Activity> {
    var kinds = Set(entries.values.compactMap(\.running))
    if case .phase(.on(let parameters)) = script?.outcome { kinds.insert(parameters.activity) }
    return kinds
  }

  /// The kind of advertisement that the last command of `nextCommand` enables, if it is one that does.
  var beginning: LEStates.Activity? {
    if case .phase(.on(let parameters)) = script?.outcome { parameters.activity } else { nil }
  }

  /// They go off the air for a while, before which their events are counted.
  mutating func interrupt(at now: Instant) { for set in entries.keys { entries[set]?.interrupted(at: now) } }

  /// The reports before a pause, and the number of events, hold on.
  mutating func goOn(from former: Self) {
    for set in entries.keys { if let old = former.entries[set] { entries[set]?.goOn(from: old) } }
  }
}
