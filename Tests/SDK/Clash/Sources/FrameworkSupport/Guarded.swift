import CoreBluetooth

/// A state.
public struct Guarded {
  /// The state.
  public let state = CBManagerState.unknown
  /// Makes a value.
  public init() {}
}
