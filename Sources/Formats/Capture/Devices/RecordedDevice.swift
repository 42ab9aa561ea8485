import Bluetooth

/// A device as recorded: its advertisements, the tree of its attributes, and their values with times.
public struct RecordedDevice: Hashable, Sendable {
  /// Its address; for a device with private addresses the one it used.
  public var address: DeviceAddress
  /// Its Device Name, or its advertised name.
  public var name: String?
  /// True if it accepted connections.
  public var isConnectable = false
  /// The last received advertising data; nil if there was none.
  public var advertising: [UInt8]?
  /// The last received scan response; nil if there was none.
  public var scanResponse: [UInt8]?
  /// The time between two advertisements, in seconds; nil if too few were received.
  public var interval: Double?
  /// The mean of its signal, in dBm, and the largest deviation from it; nil if unknown.
  public var signal: Signal?
  /// The largest ATT packet it accepts, in octets; nil if unknown.
  public var mtu: Int?
  /// How it answered to a request to pair; nil if none was seen.
  public var pairing: Pairing?
  /// Its services, in handle order.
  public var services: [Service] = []
  /// Facts missing in the recording, in sentences.
  public var remarks: [String] = []

  /// Describes a device known only by address.
  public init(address: DeviceAddress) { self.address = address }

  /// A signal's strength.
  public struct Signal: Hashable, Sendable {
    /// In dBm.
    public var mean: Int
    /// In dB.
    public var deviation: Int

    /// Summarises signals in dBm; nil for none.
    public init?(_ values: some Collection<Int8>) {
      guard let least = values.min(), let greatest = values.max() else { return nil }
      mean = Int((Double(values.reduce(0) { $0 + Int($1) }) / Double(values.count)).rounded())
      deviation = max(Int(greatest) - mean, mean - Int(least))
    }
  }

  /// The advertising interval derived from the times of reports. A scanner misses some, so the short gaps count, and
  /// each interval is longer by a random delay of 5 ms on average (Core 5.4, Vol 6, Part B, 4.4.2.2).
  /// - Parameter times: In seconds, in their order.
  /// - Returns: 0.02 to 10.24 seconds, in steps of 5 ms; nil with fewer than four gaps.
  public static func advertisingInterval(_ times: [Double]) -> Double? {
    // Closer reports belong to one event.
    var events: [Double] = []
    for time in times where events.last.map({ time - $0 >= 0.02 }) ?? true { events.append(time) }
    let gaps = zip(events.dropFirst(), events).map { $0 - $1 }.sorted()
    guard gaps.count >= 4 else { return nil }
    let steps = ((gaps[gaps.count / 10] - 0.005) / 0.005).rounded()
    return min(max(4, steps), 2_048) * 0.005
  }

  /// A Pairing Response's contents (Core 5.4, Vol 3, Part H, 3.5.2).
  public struct Pairing: Hashable, Sendable {
    /// IO Capability, 0 to 4.
    public var capability: UInt8
    /// True if it keeps keys.
    public var bonds: Bool
    /// True if it supports Secure Connections.
    public var hasSecureConnections: Bool
    /// The largest key, in octets.
    public var keySize: UInt8
  }

  /// A service.
  public struct Service: Hashable, Sendable {
    /// Its type.
    public var uuid: BluetoothUUID
    /// True if it is a primary one.
    public var isPrimary = true
    /// The types of its included services.
    public var includes: [BluetoothUUID] = []
    /// Its characteristics, in handle order.
    public var characteristics: [Characteristic] = []

    /// Describes a service.
    public init(uuid: BluetoothUUID) { self.uuid = uuid }
  }

  /// A characteristic.
  public struct Characteristic: Hashable, Sendable {
    /// Its type.
    public var uuid: BluetoothUUID
    /// The octet of properties (Core 5.4, Vol 3, Part G, 3.3.1.1).
    public var properties: UInt8
    /// The read values, with the time in seconds since the link was established.
    public var read: [Value] = []
    /// The notified or indicated values, with the time in seconds since the previous one; for the first, since the
    /// subscription.
    public var sent: [Value] = []
    /// The protection required by the device for reading, writing and subscribing.
    public var security = Security()
    /// Its descriptors without its configuration, in handle order.
    public var descriptors: [Descriptor] = []

    /// Describes a characteristic without known values.
    public init(uuid: BluetoothUUID, properties: UInt8) {
      self.uuid = uuid
      self.properties = properties
    }
  }

  /// A value and its time.
  public struct Value: Hashable, Sendable {
    /// In seconds.
    public var time: Double
    /// The octets.
    public var octets: [UInt8]

    /// Describes a value.
    public init(time: Double, octets: [UInt8]) {
      self.time = time
      self.octets = octets
    }
  }

  /// A descriptor.
  public struct Descriptor: Hashable, Sendable {
    /// Its type.
    public var uuid: BluetoothUUID
    /// Its value; empty if it was not read.
    public var value: [UInt8]

    /// Describes a descriptor.
    public init(uuid: BluetoothUUID, value: [UInt8]) {
      self.uuid = uuid
      self.value = value
    }
  }

  /// The link protection required by operations on a value.
  public struct Security: Hashable, Sendable {
    /// A level of protection.
    public enum Level: String, Hashable, Sendable, Comparable {
      case none, encrypted, authenticated

      /// Returns true if the first requires less than the second.
      public static func < (one: Level, other: Level) -> Bool { one.rank < other.rank }

      private var rank: Int {
        switch self {
        case .none: 0
        case .encrypted: 1
        case .authenticated: 2
        }
      }
    }

    /// For reading.
    public var read = Level.none
    /// For writing.
    public var write = Level.none
    /// For the configuration, which is how a client subscribes.
    public var subscribe = Level.none

    /// Describes a value available on any link.
    public init() {}

    /// True if any operation requires protection.
    public var isNeeded: Bool { max(read, max(write, subscribe)) > .none }
  }
}
