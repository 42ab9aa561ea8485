/// The programs that use the link to a device.
///
/// A program that called Connect holds the link. Another one that uses the device's attributes joins it; the link does
/// not stay for those alone.
struct Holders {
  /// The unique names of the programs that called Connect.
  private(set) var connected: Set<String> = []
  private(set) var joined: Set<String> = []

  var isEmpty: Bool { connected.isEmpty && joined.isEmpty }

  var all: Set<String> { connected.union(joined) }

  func has(_ client: String) -> Bool { connected.contains(client) || joined.contains(client) }

  mutating func connect(_ client: String) {
    joined.remove(client)
    connected.insert(client)
  }

  mutating func join(_ client: String) { if !connected.contains(client) { joined.insert(client) } }

  /// A program does not use the link any more.
  /// - Returns: the programs that had only joined it, if nobody else holds it now: they are to leave, too.
  mutating func remove(_ client: String) -> Set<String> {
    connected.remove(client)
    joined.remove(client)
    guard connected.isEmpty else { return [] }
    defer { joined = [] }
    return joined
  }
}
