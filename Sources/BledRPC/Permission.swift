/// What a program may be allowed to do. Who may is said in the daemon's configuration (`docs/configuration.md`).
public enum Permission: String, Hashable, Sendable, CaseIterable {
  /// Hear advertisements.
  case scan
  /// Connect to devices, and use their services.
  case connect
  /// Publish services of its own.
  case serve
  /// Advertise.
  case advertise
  /// Pair with devices, and forget pairings.
  case pair
  /// Change adapters: power and the like.
  case adapters
  /// See the sessions of others.
  case sessions

  /// The permission that methods of this noun need unless they say otherwise; nil for a noun that is not known.
  init?(noun: some StringProtocol) {
    switch noun {
    case "scan": self = .scan
    case "peripheral", "gatt": self = .connect
    case "service", "server": self = .serve
    case "advertising": self = .advertise
    case "pairing": self = .pair
    case "adapter": self = .adapters
    case "session": self = .sessions
    default: return nil
    }
  }
}

extension RPCMethod {
  /// That of the noun: methods that need none, or another one, say so. A method that is overlooked is not open to all.
  public static var permission: Permission? { Permission(noun: name.prefix { $0 != "." }) ?? .adapters }
}
