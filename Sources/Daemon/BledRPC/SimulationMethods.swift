import Bluetooth

/// Moves the clock of a simulation.
public enum SimulationAdvance: ClientCall {
  /// The longest time that one call moves it, in seconds: a day.
  public static let longest = 86_400.0
  public static let method = MethodDescription(
    "simulation.advance", needs: .simulation,
    """
    Moves the clock of a scenario with "clock": "manual", by which the whole daemon goes. Answers when all that was due \
    until then is done. Moves of several sessions follow one another.
    """)

  public struct Params: RPCPayload, Hashable {
    /// The time in seconds, 0 to 86400.
    public var seconds: Double
    public init(seconds: Double) { self.seconds = seconds }
  }

  public struct Result: RPCPayload, Hashable {
    /// The time on the clock, in seconds since the epoch.
    public var time: Double
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
  public static let method = MethodDescription(
    "simulation.devices", needs: .simulation,
    "Lists the devices on the simulated air, whether or not they are present.")
  public struct Result: RPCPayload, Hashable {
    /// The devices, the first one first.
    public var devices: [SimulationDevice]
    public init(devices: [SimulationDevice]) { self.devices = devices }
  }
}

/// Puts devices on the simulated air.
public enum SimulationAdd: ClientCall {
  public typealias Result = Empty
  public static let method = MethodDescription(
    "simulation.add", needs: .simulation,
    """
    Puts the devices and phones of a scenario on the simulated air, as they would be in the file of the adapter. Those \
    whose addresses are there already stay as they are.
    """)
  /// 1 MiB: a scenario may have hundreds of devices.
  public static let longestLine = LineFramer.defaultLimit
  public struct Params: RPCPayload, Hashable {
    /// A scenario, as JSON5 in a text; its devices and phones count.
    public var scenario: String
    public init(scenario: String) { self.scenario = scenario }
  }
}

/// Takes a device from the simulated air.
public enum SimulationVanish: ClientCall {
  public typealias Result = Empty
  public static let method = MethodDescription(
    "simulation.vanish", needs: .simulation,
    "Has a simulated device go out of range: its link is lost, and it advertises no more.")
  public struct Params: RPCPayload, Hashable {
    /// The name of the device in the scenario.
    public var device: String
    public init(device: String) { self.device = device }
  }
}

/// Puts a device on the simulated air again.
public enum SimulationComeBack: ClientCall {
  public typealias Result = Empty
  public static let method = MethodDescription(
    "simulation.comeBack", needs: .simulation,
    "Has a simulated device come back that has vanished.")
  public struct Params: RPCPayload, Hashable {
    /// The name of the device in the scenario.
    public var device: String
    public init(device: String) { self.device = device }
  }
}

/// Ends the link of a simulated device.
public enum SimulationDisconnect: ClientCall {
  public typealias Result = Empty
  public static let method = MethodDescription(
    "simulation.disconnect", needs: .simulation,
    """
    Has a simulated device end its link with a reason. Without a link nothing happens.
    """)
  public struct Params: RPCPayload, Hashable {
    /// The name of the device in the scenario.
    public var device: String
    /// The HCI error code reported to this machine, 1 to 255; 19 (remote user terminated connection) if missing.
    public var reason: Int?
    public init(device: String, reason: Int? = nil) {
      self.device = device
      self.reason = reason
    }
  }
}

/// Sets a value of a simulated device.
public enum SimulationSetValue: ClientCall {
  public typealias Result = Empty
  public static let method = MethodDescription(
    "simulation.setValue", needs: .simulation,
    """
    Sets the value of a characteristic of a simulated device, and notifies or indicates it if it is subscribed to.
    """)
  public struct Params: RPCPayload, Hashable {
    /// The name of the device in the scenario.
    public var device: String
    /// The UUID of the characteristic; selects the first one with it.
    public var characteristic: BluetoothUUID
    /// The value, 0 to 512 octets.
    public var value: HexBytes
    public init(device: String, characteristic: BluetoothUUID, value: HexBytes) {
      self.device = device
      self.characteristic = characteristic
      self.value = value
    }
  }
}
