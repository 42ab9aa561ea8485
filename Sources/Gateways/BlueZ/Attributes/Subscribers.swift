/// The programs subscribed to a characteristic, and the values received in their sessions of bled.
///
/// The values in the session of the first program are sent to all. Values in other sessions wait until the first has
/// received them too, so that none is sent twice, and none is lost, when another program becomes the first.
struct Subscribers {
  /// Maximum queued values of a program. With one more it becomes the first: the other's session receives nothing.
  static let maximumWaiting = 256

  private typealias Value = (serial: Int, octets: [UInt8])

  /// The unique names of the programs; never empty in `Notifications`.
  private(set) var names: [String] = []
  /// The programs with a subscribed session of bled, the earliest first. The others wait for a link.
  private var order: [String] = []
  private var waiting: [String: [Value]] = [:]
  /// The serial number of the last value sent; 0 at first.
  private var lastTold = 0
  /// The values of the first program up to this serial number were sent by its predecessor.
  private var known: Int?

  mutating func add(_ name: String) { names.append(name) }

  /// True if a program's session is subscribed.
  func hasBegun(_ name: String) -> Bool { order.contains(name) }

  /// A program's session is subscribed.
  mutating func begin(_ name: String) {
    if names.contains(name), !order.contains(name) { order.append(name) }
  }

  /// A value was received in a program's session; bled answers `gatt.subscribe` before the first one.
  /// - Parameter serial: its serial number; nil from a bled without serial numbers.
  /// - Returns: the values to send now.
  mutating func received(_ octets: [UInt8], _ serial: Int?, by name: String) -> [[UInt8]] {
    guard name == order.first else { return serial.map { wait((serial: $0, octets), name) } ?? [] }
    guard let serial else { return [octets] }
    if let known, serial <= known { return [] }
    known = nil
    // A program that subscribed after others did not receive the earlier values.
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

  /// A program is no longer subscribed.
  /// - Returns: the values to send now.
  mutating func remove(_ name: String) -> [[UInt8]] {
    names.removeAll { $0 == name }
    return end(name)
  }

  /// A program's session receives no values until it begins again.
  /// - Returns: the values to send now.
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

  /// The device is disconnected: the serial numbers of its next values may belong to another run of bled.
  mutating func disconnected() {
    order = []
    waiting = [:]
    lastTold = 0
    known = nil
  }
}
