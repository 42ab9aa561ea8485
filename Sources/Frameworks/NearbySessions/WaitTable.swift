/// A place where calls wait until something has happened there, which each checks again.
enum WaitingPlace: Hashable {
  /// Room in a session's message queue.
  case messages(Int)
  /// A session's stream or resource.
  case flow(UInt32, of: Int)
  /// The end of channels, of any session.
  case channels
  /// The request for the connection to a device, or its release.
  case change(of: String)
}

/// The waits of calls, each with its number.
struct WaitTable {
  typealias Wait = CheckedContinuation<Void, Never>

  private var waits: [WaitingPlace: [Int: Wait]] = [:]
  private var last = 0

  /// The number of waits.
  var count: Int { waits.values.reduce(0) { $0 + $1.count } }

  func count(at place: WaitingPlace) -> Int { waits[place]?.count ?? 0 }

  /// The number for another wait.
  mutating func next() -> Int {
    last += 1
    return last
  }

  mutating func add(_ wait: Wait, _ number: Int, at place: WaitingPlace) { waits[place, default: [:]][number] = wait }

  mutating func end(_ number: Int, at place: WaitingPlace) {
    waits[place]?.removeValue(forKey: number)?.resume()
    if waits[place]?.isEmpty == true { waits[place] = nil }
  }

  mutating func endAll(at place: WaitingPlace) {
    for (_, wait) in (waits.removeValue(forKey: place) ?? [:]).sorted(by: { $0.key < $1.key }) { wait.resume() }
  }
}
