import BledRPC
import Bluetooth

/// Which adapters do not work, as `adapter.changed` tells.
struct AdapterNotices {
  private var states: [String: Word<AdapterCondition>] = [:]

  /// An adapter is as described now.
  /// - Returns: The notice; nil: nothing that matters has changed.
  mutating func changed(_ adapter: AdapterDescription) -> String? {
    let former = states.updateValue(adapter.state, forKey: adapter.adapter) ?? "on"
    guard former != adapter.state, adapter.state != "starting" else { return nil }
    if adapter.state == "on" { return "adapter \(adapter.adapter) is on again" }
    let problem = adapter.problem.map { ": \($0.message); \($0.remedy)" } ?? ""
    return Output.clean("adapter \(adapter.adapter) is \(adapter.state)\(problem)")
  }

  /// The problem of adapters; nil: none.
  var problem: String? {
    let wrong = states.filter { !["on", "starting"].contains($0.value) }.sorted { $0.key < $1.key }
    return wrong.isEmpty ? nil : wrong.map { "adapter \($0.key) is \($0.value)" }.joined(separator: ", ")
  }
}
