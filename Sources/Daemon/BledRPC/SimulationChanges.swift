import Bluetooth

/// Changes a simulated device.
public enum SimulationChange: ClientCall {
  public typealias Result = Empty
  public static let method = MethodDescription(
    "simulation.change", needs: .simulation,
    """
    Changes members of a simulated device, on its link from this moment on: "rssi", "losses", "faults", "connectDelay", \
    "responseDelay", "pairing", "services", "advertising" and "scanResponse". Members that are missing stay as they \
    are; services that stay the same keep their handles, and a subscriber is told of others by Service Changed.
    """)
  public struct Params: RPCPayload, Hashable {
    /// The name of the device in the scenario.
    public var device: String
    /// Members of a device in a scenario, as JSON5 in a text.
    public var members: String
    public init(device: String, members: String) {
      self.device = device
      self.members = members
    }
  }
}

/// A write to a simulated device.
public struct SimulationWrite: Codable, Sendable, Hashable {
  /// Its number, 1 or more; each write has the next one.
  public var number: Int
  /// When it happened, in seconds since the epoch.
  public var time: Double
  /// The name of the device in the scenario.
  public var device: String
  /// The UUID of the characteristic.
  public var characteristic: BluetoothUUID
  /// "write", "writeWithoutResponse", or "subscribe" for a write to the Client Characteristic Configuration.
  public var operation: Word<Operation>
  /// The octets.
  public var value: HexBytes
  /// The kinds of writes.
  public enum Operation: String, Vocabulary {
    /// With a response.
    case write
    /// Without a response.
    case writeWithoutResponse
    /// To the Client Characteristic Configuration.
    case subscribe
  }

  public init(
    number: Int, time: Double, device: String, characteristic: BluetoothUUID, operation: Word<Operation>,
    value: HexBytes
  ) {
    self.number = number
    self.time = time
    self.device = device
    self.characteristic = characteristic
    self.operation = operation
    self.value = value
  }
}

/// Lists the values that were written to simulated devices.
public enum SimulationWritten: ClientCall {
  /// Maximum entries of one call.
  public static let limit = 100
  public static let method = MethodDescription(
    "simulation.written", needs: .simulation,
    """
    Lists what was written to simulated devices, the first write first: at most 100, of the newest 1,000. The next call \
    continues after the last number. Numbers that are missing belong to other devices, or are no longer kept.
    """)
  public struct Params: RPCPayload, Hashable {
    /// The name of the device in the scenario; all if missing.
    public var device: String?
    /// Only writes with a higher number, 0 or more; all if missing.
    public var after: Int?
    public init(device: String? = nil, after: Int? = nil) {
      self.device = device
      self.after = after
    }
  }
  public struct Result: RPCPayload, Hashable {
    /// The writes.
    public var writes: [SimulationWrite]
    public init(writes: [SimulationWrite]) { self.writes = writes }
  }
}
