/// The state of Bluetooth.
public enum CBManagerState: Int, Sendable {
  /// Not known yet.
  case unknown = 0
  /// The connection to the daemon was lost, or an adapter is starting; an update follows.
  case resetting = 1
  /// There is no daemon, or no adapter for Bluetooth LE.
  case unsupported = 2
  /// This program may not use Bluetooth.
  case unauthorized = 3
  /// The adapter is off.
  case poweredOff = 4
  /// Everything works.
  case poweredOn = 5
}

/// The older name of `CBManagerState` for a central manager.
@available(*, deprecated, message: "Use CBManagerState instead")
public enum CBCentralManagerState: Int, Sendable {
  /// See `CBManagerState.unknown`.
  case unknown = 0
  /// See `CBManagerState.resetting`.
  case resetting = 1
  /// See `CBManagerState.unsupported`.
  case unsupported = 2
  /// See `CBManagerState.unauthorized`.
  case unauthorized = 3
  /// See `CBManagerState.poweredOff`.
  case poweredOff = 4
  /// See `CBManagerState.poweredOn`.
  case poweredOn = 5
}

/// The older name of `CBManagerState` for a peripheral manager.
@available(*, deprecated, message: "Use CBManagerState instead")
public enum CBPeripheralManagerState: Int, Sendable {
  /// See `CBManagerState.unknown`.
  case unknown = 0
  /// See `CBManagerState.resetting`.
  case resetting = 1
  /// See `CBManagerState.unsupported`.
  case unsupported = 2
  /// See `CBManagerState.unauthorized`.
  case unauthorized = 3
  /// See `CBManagerState.poweredOff`.
  case poweredOff = 4
  /// See `CBManagerState.poweredOn`.
  case poweredOn = 5
}

/// A program's permission to use Bluetooth. On Linux: its access to the daemon's socket.
public enum CBManagerAuthorization: Int, Sendable {
  /// The user has not been asked yet. Does not occur on Linux.
  case notDetermined = 0
  /// The program has no permission, and the user cannot change that. Does not occur on Linux.
  case restricted = 1
  /// The program has no permission to use the daemon's socket.
  case denied = 2
  /// The program may.
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
