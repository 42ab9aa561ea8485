import Bluetooth
import HCI

/// The advertisements as activities for the controller.
extension AdvertisingMachine {
  /// The wanted kinds of advertisements that can be sent.
  var activities: Set<LEStates.Activity> {
    Set(entries.values.compactMap { $0.activity(with: capabilities) })
  }

  /// The controller's activities, as far as known, and those being set up.
  var running: Set<LEStates.Activity> {
    var kinds = Set(entries.values.compactMap(\.running))
    if case .phase(.on(let parameters)) = script?.outcome { kinds.insert(parameters.activity) }
    return kinds
  }

  /// The kind of advertisement enabled by the last command from `nextCommand`, if any.
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
