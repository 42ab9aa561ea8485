import Adapter
import BledRPC
import Bluetooth

/// The adapters in the order in which they were given; the first is the default.
final class AdapterRegistry {
  private(set) var slots: [AdapterSlot] = []

  func add(_ adapter: any Adapter) -> AdapterSlot {
    let slot = AdapterSlot(adapter)
    slots.append(slot)
    return slot
  }

  var descriptions: [AdapterDescription] { slots.map(\.description) }

  /// The adapter of this name or address; the first one without a name.
  func find(_ name: String?) throws -> AdapterSlot {
    let found = if let name { slots.first { $0.isCalled(name) } } else { slots.first }
    guard let found else {
      let known = slots.map(\.id).joined(separator: ", ")
      throw GAPError.adapterAbsent.error(
        "there is no adapter \(name.map { "\"\($0)\"" } ?? "at all"); the daemon was given: \(known.isEmpty ? "none" : known)"
      )
    }
    return found
  }

  /// The same, if something can be done with it now.
  func findUsable(_ name: String?) throws -> AdapterSlot {
    let found = try find(name)
    if let error = found.unusable { throw error }
    return found
  }
}

extension AdapterSlot {
  fileprivate func isCalled(_ name: String) -> Bool {
    id == name || (adapter.information.address != .none && "\(adapter.information.address)" == name.uppercased())
  }
}
