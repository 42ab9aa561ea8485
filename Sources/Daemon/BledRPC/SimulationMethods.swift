import Bluetooth

/// Moves the clock of a simulation.
public enum SimulationAdvance: ClientCall {
  /// The longest time that one call moves it, in seconds: a day.
  public static let longest = 86_400.0
  /// `simulation.advance`
  public static let name = "simulation.advance"
  /// The permission that the caller needs.
  public static let permission: Permission? = .simulation
  /// For `rpc.discover`.
  public static let summary = """
    Moves the clock of a scenario with "clock": "manual", by which the whole daemon goes. Answers when all that was due \
    until then is done. Moves of several sessions follow one another.
    """

  /// The parameters.
  public struct Params: RPCPayload, Hashable {
    /// The time in seconds, 0 to 86400.
    public var seconds: Double
    /// Makes the params.
    public init(seconds: Double) { self.seconds = seconds }
  }

  /// The result.
  public struct Result: RPCPayload, Hashable {
    /// The time on the clock, in seconds since the epoch.
    public var time: Double
    /// Makes the result.
    public init(time: Double) { self.time = time }
  }
}

/// A device on the simulated air.
public struct SimulationDevice: Codable, Sendable, Hashable {
  /// Its name in the scenario.
  public var name: String
  /// Its address.
  public var address: String
  /// "public" or "random".
  public var addressType: Word<DeviceAddress.Kind>
  /// True if it is on the air.
  public var present: Bool
  /// True if it has a link.
  public var connected: Bool
  /// Makes a description.
  public init(name: String, address: String, addressType: Word<DeviceAddress.Kind>, present: Bool, connected: Bool) {
    self.name = name
    self.address = address
    self.addressType = addressType
    self.present = present
    self.connected = connected
  }
}

/// Lists the simulated devices.
public enum SimulationDevices: ClientCall {
  /// There are no parameters.
  public typealias Params = Empty
  /// `simulation.devices`
  public static let name = "simulation.devices"
  /// The permission that the caller needs.
  public static let permission: Permission? = .simulation
  /// For `rpc.discover`.
  public static let summary = "Lists the devices on the simulated air, whether or not they are present."
  /// The result.
  public struct Result: RPCPayload, Hashable {
    /// The devices, the first one first.
    public var devices: [SimulationDevice]
    /// Makes the result.
    public init(devices: [SimulationDevice]) { self.devices = devices }
  }
}

/// Puts devices on the simulated air.
public enum SimulationAdd: ClientCall {
  /// The result is empty.
  public typealias Result = Empty
  /// `simulation.add`
  public static let name = "simulation.add"
  /// The permission that the caller needs.
  public static let permission: Permission? = .simulation
  /// For `rpc.discover`.
  public static let summary = """
    Puts the devices and phones of a scenario on the simulated air, as they would be in the file of the adapter. Those \
    whose addresses are there already stay as they are.
    """
  /// The parameters.
  public struct Params: RPCPayload, Hashable {
    /// A scenario, as JSON5 in a text; its devices and phones count.
    public var scenario: String
    /// Makes the params.
    public init(scenario: String) { self.scenario = scenario }
  }
}

/// Takes a device from the simulated air.
public enum SimulationVanish: ClientCall {
  /// The result is empty.
  public typealias Result = Empty
  /// `simulation.vanish`
  public static let name = "simulation.vanish"
  /// The permission that the caller needs.
  public static let permission: Permission? = .simulation
  /// For `rpc.discover`.
  public static let summary = "Has a simulated device go out of range: its link is lost, and it advertises no more."
  /// The parameters.
  public struct Params: RPCPayload, Hashable {
    /// The name of the device in the scenario.
    public var device: String
    /// Makes the params.
    public init(device: String) { self.device = device }
  }
}

/// Puts a device on the simulated air again.
public enum SimulationComeBack: ClientCall {
  /// The result is empty.
  public typealias Result = Empty
  /// `simulation.comeBack`
  public static let name = "simulation.comeBack"
  /// The permission that the caller needs.
  public static let permission: Permission? = .simulation
  /// For `rpc.discover`.
  public static let summary = "Has a simulated device come back that has vanished."
  /// The parameters.
  public struct Params: RPCPayload, Hashable {
    /// The name of the device in the scenario.
    public var device: String
    /// Makes the params.
    public init(device: String) { self.device = device }
  }
}

/// Ends the link of a simulated device.
public enum SimulationDisconnect: ClientCall {
  /// The result is empty.
  public typealias Result = Empty
  /// `simulation.disconnect`
  public static let name = "simulation.disconnect"
  /// The permission that the caller needs.
  public static let permission: Permission? = .simulation
  /// For `rpc.discover`.
  public static let summary = """
    Has a simulated device end its link with a reason. Without a link nothing happens.
    """
  /// The parameters.
  public struct Params: RPCPayload, Hashable {
    /// The name of the device in the scenario.
    public var device: String
    /// The HCI error code reported to this machine, 1 to 255; 19 (remote user terminated connection) if missing.
    public var reason: Int?
    /// Makes the params.
    public init(device: String, reason: Int? = nil) {
      self.device = device
      self.reason = reason
    }
  }
}

/// Sets a value of a simulated device.
public enum SimulationSetValue: ClientCall {
  /// The result is empty.
  public typealias Result = Empty
  /// `simulation.setValue`
  public static let name = "simulation.setValue"
  /// The permission that the caller needs.
  public static let permission: Permission? = .simulation
  /// For `rpc.discover`.
  public static let summary = """
    Sets the value of a characteristic of a simulated device, and notifies or indicates it if it is subscribed to.
    """
  /// The parameters.
  public struct Params: RPCPayload, Hashable {
    /// The name of the device in the scenario.
    public var device: String
    /// The UUID of the characteristic; selects the first one with it.
    public var characteristic: BluetoothUUID
    /// The value, 0 to 512 octets.
    public var value: HexBytes
    /// Makes the params.
    public init(device: String, characteristic: BluetoothUUID, value: HexBytes) {
      self.device = device
      self.characteristic = characteristic
      self.value = value
    }
  }
}
