/// The programs that are subscribed to a characteristic, and the values that come in their sessions of bled.
///
/// The values in the session of the first program are told to all. Those in the sessions of the others wait until the
/// first has had them too, so that none is told twice, and none is lost, when another program becomes the first.
struct Subscribers {
  /// The values of a program that may wait. With one more it becomes the first: nothing comes in the session of the
  /// other.
  static let maximumWaiting = 256

  private typealias Value = (serial: Int, octets: [UInt8])

  /// The unique names of the programs; never empty in `Notifications`.
  private(set) var names: [String] = []
  /// The programs with a session of bled that is subscribed, the earliest first. The others wait for a link.
  private var order: [String] = []
  private var waiting: [String: [Value]] = [:]
  /// The serial number of the last value that was told; 0 at first.
  private var lastTold = 0
  /// The values of the first up to this serial number were told by the one before.
  private var known: Int?

  mutating func add(_ name: String) { names.append(name) }

  /// Whether a program's session is subscribed.
  func hasBegun(_ name: String) -> Bool { order.contains(name) }

  /// A program's session is subscribed.
  mutating func begin(_ name: String) {
    if names.contains(name), !order.contains(name) { order.append(name) }
  }

  /// A value came in a program's session; bled answers `gatt.subscribe` before the first one.
  /// - Parameter serial: its serial number; nil from a bled that has none.
  /// - Returns: the values that are to be told now.
  mutating func received(_ octets: [UInt8], _ serial: Int?, by name: String) -> [[UInt8]] {
    guard name == order.first else { return serial.map { wait((serial: $0, octets), name) } ?? [] }
    guard let serial else { return [octets] }
    if let known, serial <= known { return [] }
    known = nil
    // A program that was subscribed after others has not had the values before.
    var missed: [Int: [UInt8]] = [:]
    for value in waiting.values.joined() where value.serial > lastTold && value.serial < serial {
      missed[value.serial] = value.octets
    }
    lastTold = serial
    for name in waiting.keys { waiting[name]?.removeAll { $0.serial <= serial } }
    return missed.sorted { $0.key < $1.key }.map(\.value) + [octets]
  }

  private mutating func wait(_ value: Value, _ name: String) -> [[UInt8]] {
    guard order.contains(name), value.serial > lastTold else { return [] }
    waiting[name, default: []].append(value)
    guard (waiting[name]?.count ?? 0) > Self.maximumWaiting else { return [] }
    order.removeAll { $0 == name }
    order.insert(name, at: 0)
    return firstChanged()
  }

  /// A program is not subscribed any more.
  /// - Returns: the values that are to be told now.
  mutating func remove(_ name: String) -> [[UInt8]] {
    names.removeAll { $0 == name }
    return end(name)
  }

  /// No values come in a program's session until it begins again.
  /// - Returns: the values that are to be told now.
  mutating func end(_ name: String) -> [[UInt8]] {
    let wasFirst = order.first == name
    order.removeAll { $0 == name }
    waiting[name] = nil
    return wasFirst ? firstChanged() : []
  }

  private mutating func firstChanged() -> [[UInt8]] {
    guard let first = order.first else { return [] }
    let values = waiting.removeValue(forKey: first) ?? []
    if let last = values.last { lastTold = last.serial }
    known = lastTold
    return values.map(\.octets)
  }

  /// The device is disconnected: the serial numbers of its next values may be those of another run of bled.
  mutating func disconnected() {
    order = []
    waiting = [:]
    lastTold = 0
    known = nil
  }
}
