/// The programs that use the link to a device.
///
/// A program that called Connect holds the link. Another program that uses the device's attributes joins it (bleak does
/// not call Connect for a connected device), and keeps it when the holders have left, unless it is another connection
/// of the last holder's process.
struct Holders {
  /// The unique names of the programs that called Connect.
  private(set) var connected: Set<String> = []
  private(set) var joined: Set<String> = []
  /// The programs that have used the device's attributes.
  private var busy: Set<String> = []

  /// True if a program has called Connect and done nothing else: perhaps it was a command, and its user continues with
  /// another one.
  func isIdle(_ client: String) -> Bool { connected.contains(client) && !busy.contains(client) }

  mutating func use(_ client: String) { busy.insert(client) }

  var isEmpty: Bool { connected.isEmpty && joined.isEmpty }

  var all: Set<String> { connected.union(joined) }

  func has(_ client: String) -> Bool { connected.contains(client) || joined.contains(client) }

  mutating func connect(_ client: String) {
    joined.remove(client)
    connected.insert(client)
  }

  mutating func join(_ client: String) { if !connected.contains(client) { joined.insert(client) } }

  /// A program no longer uses the link.
  /// - Parameter isOfSameProcess: returns true if another program is a connection of the same process.
  /// - Returns: the programs that must leave, too.
  mutating func remove(_ client: String, where isOfSameProcess: (String) -> Bool) -> Set<String> {
    joined.remove(client)
    busy.remove(client)
    guard connected.remove(client) != nil, connected.isEmpty else { return [] }
    let companions = joined.filter(isOfSameProcess)
    (connected, joined) = (joined.subtracting(companions), [])
    return companions
  }
}
