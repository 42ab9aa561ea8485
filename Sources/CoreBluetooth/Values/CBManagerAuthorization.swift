/// Whether this program may use Bluetooth. On Linux: whether it may use the daemon's socket.
public enum CBManagerAuthorization: Int, Sendable {
  /// Nobody was asked yet. Does not occur on Linux.
  case notDetermined = 0
  /// It may not, and the user cannot change that. Does not occur on Linux.
  case restricted = 1
  /// It has no permission to use the daemon's socket.
  case denied = 2
  /// It may.
  case allowedAlways = 3
}

/// The older form of `CBManagerAuthorization` for a peripheral manager.
@available(*, deprecated, message: "Use CBManagerAuthorization instead")
public enum CBPeripheralManagerAuthorizationStatus: Int, Sendable {
  /// See `CBManagerAuthorization.notDetermined`.
  case notDetermined = 0
  /// See `CBManagerAuthorization.restricted`.
  case restricted = 1
  /// See `CBManagerAuthorization.denied`.
  case denied = 2
  /// See `CBManagerAuthorization.allowedAlways`.
  case authorized = 3
}
