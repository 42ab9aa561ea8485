import Bluetooth

/// The number under which an advertisement is wanted; chosen by the owner of the adapter.
public struct AdvertisingSetID: Hashable, Sendable {
  /// The number.
  public let value: UInt32
  /// Makes an identifier from a number.
  public init(_ value: UInt32) { self.value = value }
}

/// What and how to advertise (Core 5.4, Vol 4, Part E, 7.8.5 and 7.8.53).
public struct AdvertisingParameters: Hashable, Sendable {
  /// Whether connections are accepted.
  public var isConnectable: Bool
  /// The time between two advertising events that is aimed for, 20 ms to 10.24 s.
  public var interval: Duration
  /// The advertising data; the adapter adds nothing to it.
  public var data: [UInt8]
  /// The scan response data; empty for none.
  public var scanResponse: [UInt8]

  /// Makes advertising parameters.
  public init(
    isConnectable: Bool = true, interval: Duration = .milliseconds(100), data: [UInt8], scanResponse: [UInt8] = []
  ) {
    self.isConnectable = isConnectable
    self.interval = interval
    self.data = data
    self.scanResponse = scanResponse
  }
}

/// The state of a wanted advertisement.
public enum AdvertisingStatus: Hashable, Sendable {
  /// It is on the air, with this interval.
  case on(interval: Duration)
  /// It is off the air for now and comes back automatically.
  case off
  /// It cannot be sent.
  case failed(BluetoothError)
}
