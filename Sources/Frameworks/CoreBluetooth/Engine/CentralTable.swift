/// The objects for subscribed or requesting centrals. The table holds the newest; other objects stay unique while the
/// program holds them, a delegate call is pending, or they are subscribed.
struct CentralTable {
  private struct Entry {
    weak var central: CBCentral?
    /// The object itself, while held by the table.
    var held: CBCentral?
  }

  /// Maximum held objects.
  static let maximumHeld = 64

  private var entries: [String: Entry] = [:]
  private var heldCount = 0

  /// The existing or a new object for a central.
  /// - Parameter id: The daemon's identifier; nil is returned for a text that is not a UUID.
  mutating func find(_ id: String) -> CBCentral? {
    if let known = entries[id]?.central { return known }
    guard let identifier = UUID(uuidString: id) else { return nil }
    if heldCount >= Self.maximumHeld {
      entries = entries.mapValues { Entry(central: $0.central) }.filter { $0.value.central != nil }
      heldCount = 0
    }
    let new = CBCentral(identifier: identifier)
    entries[id] = Entry(central: new, held: new)
    heldCount += 1
    return new
  }
}
