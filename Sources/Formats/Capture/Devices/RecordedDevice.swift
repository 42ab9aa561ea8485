import Bluetooth

/// A device as it was seen: its advertisements, the tree of its attributes, and their values with times.
public struct RecordedDevice: Hashable, Sendable {
  /// Its address; of a device with private addresses the one that it used.
  public var address: DeviceAddress
  /// Its Device Name, or the name that it advertised.
  public var name: String?
  /// Whether it accepted connections.
  public var isConnectable = false
  /// The advertising data that was heard last; nil if none was heard.
  public var advertising: [UInt8]?
  /// The scan response that was heard last; nil if none was heard.
  public var scanResponse: [UInt8]?
  /// The time between two advertisements, in seconds; nil if too few were heard.
  public var interval: Double?
  /// The mean of its signal, in dBm, and the largest deviation from it; nil if it is not known.
  public var signal: Signal?
  /// The largest ATT packet that it accepts, in octets; nil if it did not tell.
  public var mtu: Int?
  /// How it answered to a request to pair; nil if none was seen.
  public var pairing: Pairing?
  /// Its services, in the order of their handles.
  public var services: [Service] = []
  /// Facts that the recording does not tell, in sentences.
  public var remarks: [String] = []

  /// Describes a device of which no more is known.
  public init(address: DeviceAddress) { self.address = address }

  /// The strength of a signal.
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

  /// The advertising interval that the times of reports tell. A scanner misses some, so that the short gaps count, and
  /// each interval is longer by a random delay of 5 ms on average (Core 5.4, Vol 6, Part B, 4.4.2.2).
  /// - Parameter times: In seconds, in their order.
  /// - Returns: 0.02 to 10.24 seconds, in steps of 5 ms; nil with fewer than four gaps.
  public static func advertisingInterval(_ times: [Double]) -> Double? {
    // Reports that are closer are of one event.
    var events: [Double] = []
    for time in times where events.last.map({ time - $0 >= 0.02 }) ?? true { events.append(time) }
    let gaps = zip(events.dropFirst(), events).map { $0 - $1 }.sorted()
    guard gaps.count >= 4 else { return nil }
    let steps = ((gaps[gaps.count / 10] - 0.005) / 0.005).rounded()
    return min(max(4, steps), 2_048) * 0.005
  }

  /// The contents of a Pairing Response (Core 5.4, Vol 3, Part H, 3.5.2).
  public struct Pairing: Hashable, Sendable {
    /// IO Capability, 0 to 4.
    public var capability: UInt8
    /// Whether it keeps keys.
    public var bonds: Bool
    /// Whether it has Secure Connections.
    public var hasSecureConnections: Bool
    /// The largest key, in octets.
    public var keySize: UInt8
  }

  /// A service.
  public struct Service: Hashable, Sendable {
    /// Its type.
    public var uuid: BluetoothUUID
    /// Whether it is a primary one.
    public var isPrimary = true
    /// The types of the services that it includes.
    public var includes: [BluetoothUUID] = []
    /// Its characteristics, in the order of their handles.
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
    /// The values that were read, with the time in seconds since the link came up.
    public var read: [Value] = []
    /// The values that were notified or indicated, with the time in seconds since the one before; of the first since
    /// the subscription.
    public var sent: [Value] = []
    /// The protection that the device asked for when it was read, written and subscribed to.
    public var security = Security()
    /// Its descriptors but that of its configuration, in the order of their handles.
    public var descriptors: [Descriptor] = []

    /// Describes a characteristic of which no value is known.
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

  /// The protection of a link that operations on a value ask for.
  public struct Security: Hashable, Sendable {
    /// A level of protection.
    public enum Level: String, Hashable, Sendable, Comparable {
      case none, encrypted, authenticated

      /// Whether one asks for less than the other.
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

    /// Describes a value that any link may use.
    public init() {}

    /// Whether any operation asks for protection.
    public var isNeeded: Bool { max(read, max(write, subscribe)) > .none }
  }
}
