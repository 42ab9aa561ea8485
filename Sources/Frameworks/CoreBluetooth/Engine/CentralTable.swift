/// The objects for the centrals that subscribe or ask. The table holds the newest; the others stay the same for as long
/// as the program holds them, a call of the delegate is to come, or they subscribe.
struct CentralTable {
  private struct Entry {
    weak var central: CBCentral?
    /// The same object, while the table holds it.
    var held: CBCentral?
  }

  /// How many objects are held here.
  static let maximumHeld = 64

  private var entries: [String: Entry] = [:]
  private var heldCount = 0

  /// The object for a central: the one that is there, or a new one.
  /// - Parameter id: How the daemon names it; nil is returned for a text that is not a UUID.
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
