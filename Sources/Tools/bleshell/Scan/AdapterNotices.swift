import BledRPC
import Bluetooth

/// The adapters that do not work, according to `adapter.changed`.
struct AdapterNotices {
  private var states: [String: Word<AdapterCondition>] = [:]

  /// Updates the description of an adapter.
  /// - Returns: The notice; nil without a relevant change.
  mutating func changed(_ adapter: AdapterDescription) -> String? {
    let former = states.updateValue(adapter.state, forKey: adapter.adapter) ?? "on"
    guard former != adapter.state, adapter.state != "starting" else { return nil }
    if adapter.state == "on" { return "adapter \(adapter.adapter) is on again" }
    let problem = adapter.problem.map { ": \($0.message); \($0.remedy)" } ?? ""
    return Output.clean("adapter \(adapter.adapter) is \(adapter.state)\(problem)")
  }

  /// The problem of adapters; nil for none.
  var problem: String? {
    let wrong = states.filter { !["on", "starting"].contains($0.value) }.sorted { $0.key < $1.key }
    return wrong.isEmpty ? nil : wrong.map { "adapter \($0.key) is \($0.value)" }.joined(separator: ", ")
  }
}
