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
}
