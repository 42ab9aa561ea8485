/// The places of absent services, so that a returning one gets its handles back, also in a later database.
public struct ServicePlaces: Hashable, Sendable {
  /// The place of a service, present or former.
  public struct Place: Hashable, Sendable {
    /// The owner, as numbered by the caller: no owner gets another's handles.
    public let publisher: UInt32?
    /// The visible content except the handles (`AttributeDatabase.tree`).
    public let tree: [UInt8]
    /// Its handles.
    public let range: ClosedRange<UInt16>

    /// Makes a place.
    public init(publisher: UInt32?, tree: [UInt8], range: ClosedRange<UInt16>) {
      self.publisher = publisher
      self.tree = tree
      self.range = range
    }
  }

  /// Maximum remembered places. At the limit the publisher with the most of them loses its least recently used one.
  public static let maximum = 1024

  /// The most recently left one is last. They do not overlap.
  public private(set) var all: [Place] = []

  /// Takes places over, the last ones where they are too many; the rest is left out.
  public init(_ places: [Place] = []) {
    for place in places.suffix(Self.maximum) where place.range.lowerBound > 0 && !overlaps(place.range) {
      all.append(place)
    }
  }

  /// The highest handle of all; 0 if there is none.
  public var highestHandle: UInt16 { all.reduce(0) { max($0, $1.range.upperBound) } }

  /// True if one of these handles belongs to a place.
  func overlaps(_ range: ClosedRange<UInt16>) -> Bool { all.contains { $0.range.overlaps(range) } }

  /// The places a service can return to, in handle order: a publisher may have several alike.
  func ranges(of tree: [UInt8], publisher: UInt32?) -> [ClosedRange<UInt16>] {
    all.filter { $0.publisher == publisher && $0.tree == tree }.map(\.range)
      .sorted { $0.lowerBound < $1.lowerBound }
  }

  /// A service is at these handles now.
  mutating func occupy(_ range: ClosedRange<UInt16>) { all.removeAll { $0.range.overlaps(range) } }

  /// A service has left this place.
  mutating func leave(_ place: Place) {
    all.append(place)
    guard all.count > Self.maximum else { return }
    let counts = Dictionary(all.map { ($0.publisher, 1) }, uniquingKeysWith: +)
    let most = counts.values.max()
    if let place = all.firstIndex(where: { counts[$0.publisher] == most }) { all.remove(at: place) }
  }
}
