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

/// The wanted parameters of a connection (Core 5.4, Vol 4, Part E, 7.8.12, 7.8.18 and 7.8.66).
public struct ConnectionParameters: Hashable, Sendable {
  /// The range within which the time between two connection events may lie, 7.5 ms to 4 s.
  public var interval: ClosedRange<Duration>
  /// How many events the peripheral may sleep through, 0 to 499.
  public var latency: Int
  /// After this long without a packet the link is lost, 100 ms to 32 s.
  public var supervisionTimeout: Duration

  /// Makes connection parameters; the defaults suit an ordinary link with low latency.
  public init(
    interval: ClosedRange<Duration> = .milliseconds(15)...(.milliseconds(45)), latency: Int = 0,
    supervisionTimeout: Duration = .seconds(4)
  ) {
    self.interval = interval
    self.latency = latency
    self.supervisionTimeout = supervisionTimeout
  }
}
