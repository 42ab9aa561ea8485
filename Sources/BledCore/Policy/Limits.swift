import BledRPC

/// How much there may be of everything that sessions hold: in all, of one user, and of one session.
public struct Limits: Hashable, Sendable {
  /// What is limited, by its key in the configuration.
  public enum Resource: String, Hashable, Sendable, CaseIterable {
    case sessions
    case scans
    /// Devices that a session is connected to or waits for.
    case connections
    /// Of these, those it waits for.
    case connects
    case services
    /// What the services consist of: each takes a handle, of which there are 65535 for all.
    case attributes
    case advertisements
    /// What waits for sessions to read it, in octets.
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
  /// What many of them are called.
  var plural: String {
    switch self {
    case .connections: "devices that it is connected to or waits for"
    case .connects: "devices that it waits for"
    case .queueOctets: "octets that wait to be read"
    default: rawValue
    }
  }

  /// The least that a limit may be; less waiting octets would not hold an answer.
  var least: Int { self == .queueOctets ? 1 << 20 : 1 }

  /// How to come below the limit.
  var remedy: String {
    switch self {
    case .sessions: "end some programs"
    case .scans: "stop a scan with \(ScanStop.name)"
    case .connections, .connects: "let go of some with \(PeripheralDisconnect.name)"
    case .services, .attributes: "take some back with \(ServiceRemove.name)"
    case .advertisements: "take some back with \(AdvertisingStop.name)"
    case .queueOctets: "read faster"
    case .peripherals: "none has to be let go"
    }
  }
}
