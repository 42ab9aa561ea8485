import BledRPC

/// The limits of sessions' resources: in total, per user, and per session.
public struct Limits: Hashable, Sendable {
  /// A limited resource, by its key in the configuration.
  public enum Resource: String, Hashable, Sendable, CaseIterable {
    case sessions
    case scans
    /// Devices a session is connected to or waits for.
    case connections
    /// Of these, the pending ones.
    case connects
    case services
    /// The attributes of the services: each takes one of 65535 handles.
    case attributes
    case advertisements
    /// Followed trains of periodic advertisements.
    case syncs
    /// Descriptors for values of characteristics.
    case acquisitions
    /// Published numbers of L2CAP channels, and channels.
    case channels
    /// Recordings of packets.
    case captures
    /// Octets waiting to be read by sessions.
    case queueOctets
    /// Known devices.
    case peripherals
  }

  /// Of all sessions together.
  public var total: [Resource: Int] = [
    .sessions: 1000, .peripherals: 4096, .acquisitions: 1024, .channels: 512, .captures: 16, .queueOctets: 256 << 20,
  ]
  /// Per user.
  public var perUser: [Resource: Int] = [
    .sessions: 500, .scans: 500, .connections: 1024, .connects: 1024, .services: 256, .attributes: 16_000,
    .advertisements: 64, .syncs: 64, .acquisitions: 256, .channels: 128, .captures: 8, .queueOctets: 64 << 20,
  ]
  /// Per session.
  public var perSession: [Resource: Int] = [
    .scans: 16, .connections: 256, .connects: 256, .services: 64, .attributes: 2000, .advertisements: 16, .syncs: 16,
    .acquisitions: 64, .channels: 32, .captures: 4, .queueOctets: 4 << 20,
  ]

  /// The default limits, for a daemon with a hundred clients.
  public init() {}
}

extension Limits {
  /// True if a user may have one more of a shared resource: the last tenth is for users with less than a hundredth of
  /// it, so a few users cannot keep out all others.
  /// - Parameters:
  ///   - own: the user's present number.
  ///   - all: the total number.
  ///   - most: the limit of the total number.
  static func hasShare(own: Int, all: Int, of most: Int) -> Bool {
    all < share(own: own, of: most)
  }

  /// The maximum total for a user to get one more.
  static func share(own: Int, of most: Int) -> Int { own < max(1, most / 100) ? most : most - most / 10 }
}

extension Limits.Resource {
  /// The plural for messages.
  var plural: String {
    switch self {
    case .connections: "established or pending connections"
    case .connects: "pending connections"
    case .channels: "L2CAP channels and numbers for them"
    case .captures: "recordings of packets"
    case .queueOctets: "octets waiting to be read"
    case .acquisitions: "acquired characteristics"
    case .syncs: "trains of periodic advertising that it follows"
    default: rawValue
    }
  }

  /// The lowest permitted limit; fewer octets would not hold an answer.
  var least: Int { self == .queueOctets ? 1 << 20 : 1 }

  /// How to get below the limit.
  var remedy: String {
    switch self {
    case .sessions: "stop some programs"
    case .scans: "stop a scan with \(ScanStop.name)"
    case .connections, .connects: "end some with \(PeripheralDisconnect.name)"
    case .services, .attributes: "remove some with \(ServiceRemove.name)"
    case .advertisements: "stop some with \(AdvertisingStop.name)"
    case .syncs: "stop some with \(PeriodicStop.name)"
    case .channels: "close some with \(L2CAPClose.name) and \(L2CAPUnpublish.name)"
    case .captures: "end some with \(CaptureStop.name)"
    case .queueOctets: "read faster"
    case .acquisitions: "close some of their descriptors"
    case .peripherals: "none needs to be released"
    }
  }
}
