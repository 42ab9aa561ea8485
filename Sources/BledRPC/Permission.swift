/// What a program can be permitted to do. The daemon's configuration says who has which (`docs/configuration.md`).
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
