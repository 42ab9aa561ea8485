import BledClient

/// Everything on the pages that changes seldom.
struct Status: Encodable, Sendable {
  /// A link that ended.
  struct End: Encodable, Sendable {
    /// Seconds since the epoch.
    var time: Double
    var device: String
    var name: String?
    /// Nil if unknown, or if this program ended it.
    var reason: String?
  }

  /// A characteristic of a device.
  struct Subscription: Encodable, Hashable, Sendable {
    var device: String
    var handle: UInt16
  }

  /// The description of the daemon; nil without a connection.
  var daemon: String?
  /// The reason for a missing connection or scan.
  var problem: String?
  var release: String
  /// True if pages may write.
  var writes: Bool
  var adapters: [AdapterDescription] = []
  /// The sessions that the user may see.
  var sessions: [SessionDescription] = []
  /// The names of the users of these sessions, by their numbers.
  var users: [String: String] = [:]
  /// The devices with a link, of any program.
  var links: [PeripheralList.Entry] = []
  /// The last links that ended, the newest first.
  var ends: [End] = []
  /// The devices that this program is connected to.
  var connected: [String] = []
  /// The subscriptions of this program.
  var subscriptions: [Subscription] = []
  var recordings: [Recordings.Description] = []
  /// The question of the pairing that a page has begun.
  var question: Pairings.Question?
  /// The number of changes of the names that the user gives.
  var named = 0
}
