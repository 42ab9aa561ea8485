/// How this manager is connected to a peripheral.
public enum CBPeripheralState: Int, Sendable {
  /// Not at all.
  case disconnected = 0
  /// `connect` was called and waits for the device.
  case connecting = 1
  /// Connected.
  case connected = 2
  /// `cancelPeripheralConnection` was called and is not done yet.
  case disconnecting = 3
}

/// How a characteristic is written.
public enum CBCharacteristicWriteType: Int, Sendable {
  /// The device answers, and the delegate is called (Write Request).
  case withResponse = 0
  /// The device does not answer (Write Command).
  case withoutResponse = 1
}

/// A connection's event.
public enum CBConnectionEvent: Int, Sendable {
  /// The connection ended.
  case peerDisconnected = 0
  /// The connection was made.
  case peerConnected = 1
}

/// The latency of a central's connection.
public enum CBPeripheralManagerConnectionLatency: Int, Sendable {
  /// Low latency, at the cost of power.
  case low = 0
  /// A balance of both.
  case medium = 1
  /// High latency, to save power.
  case high = 2
}

/// A criterion of `registerForConnectionEvents(options:)`.
public struct CBConnectionEventMatchingOption: RawRepresentable, Hashable, Sendable {
  /// The key.
  public let rawValue: String

  /// Makes an option from its key.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// Peripherals with one of these services: an array of `CBUUID`.
  public static let serviceUUIDs = Self(rawValue: "kCBConnectionEventMatchingOptionServiceUUIDs")
  /// Peripherals of these identifiers: an array of `UUID`.
  public static let peripheralUUIDs = Self(rawValue: "kCBConnectionEventMatchingOptionPeripheralUUIDs")
}
