import BledRPC

/// The limits of everything that sessions hold: in total, per user, and per session.
public struct Limits: Hashable, Sendable {
  /// What is limited, by its key in the configuration.
  public enum Resource: String, Hashable, Sendable, CaseIterable {
    case sessions
    case scans
    /// Devices that a session is connected to or waits for.
    case connections
    /// Of these, the pending ones.
    case connects
    case services
    /// The attributes of the services: each takes a handle, of which there are 65535 in total.
    case attributes
    case advertisements
    /// Octets waiting to be read by sessions.
    case queueOctets
    /// Devices that the daemon knows.
    case peripherals
  }

  /// Of all sessions together.
  public var total: [Resource: Int] = [.sessions: 1000, .peripherals: 4096]
  /// Of the sessions of one user.
  public var perUser: [Resource: Int] = [
    .sessions: 500, .scans: 500, .connections: 1024, .connects: 1024, .services: 256, .attributes: 16_000,
    .advertisements: 64, .queueOctets: 64 << 20,
  ]
  /// Of one session.
  public var perSession: [Resource: Int] = [
    .connections: 256, .connects: 256, .services: 64, .attributes: 2000, .advertisements: 16,
    .queueOctets: 4 << 20,
  ]

  /// The limits that fit a daemon with a hundred clients.
  public init() {}
}

extension Limits.Resource {
  /// The plural for messages.
  var plural: String {
    switch self {
    case .connections: "established or pending connections"
    case .connects: "pending connections"
    case .queueOctets: "octets waiting to be read"
    default: rawValue
    }
  }

  /// The lowest value of a limit; fewer octets would not hold an answer.
  var least: Int { self == .queueOctets ? 1 << 20 : 1 }

  /// How to get below the limit.
  var remedy: String {
    switch self {
    case .sessions: "stop some programs"
    case .scans: "stop a scan with \(ScanStop.name)"
    case .connections, .connects: "end some with \(PeripheralDisconnect.name)"
    case .services, .attributes: "remove some with \(ServiceRemove.name)"
    case .advertisements: "stop some with \(AdvertisingStop.name)"
    case .queueOctets: "read faster"
    case .peripherals: "none needs to be released"
    }
  }
}
