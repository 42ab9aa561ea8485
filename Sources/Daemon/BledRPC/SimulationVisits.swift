import Bluetooth

/// Something that happened on the visit of a simulated phone.
public struct SimulationVisitStep: Codable, Sendable, Hashable {
  /// When it happened, in seconds since the epoch.
  public var time: Double
  /// "discover" for each discovered characteristic; a step of its script: "read", "write", "subscribe", "unsubscribe",
  /// "pair" or "openChannel"; or "value" for a received value.
  public var action: Word<Action>
  /// The UUID of the characteristic; missing if the step concerns none.
  public var characteristic: BluetoothUUID?
  /// The value that was read or sent.
  public var value: HexBytes?
  /// The reason for its failure; missing if it did not fail.
  public var error: RPCError?
  /// The steps of a visit.
  public enum Action: String, Vocabulary {
    /// The phone discovered a characteristic.
    case discover
    /// The script reads.
    case read
    /// The script writes.
    case write
    /// The script subscribes.
    case subscribe
    /// The script ends a subscription.
    case unsubscribe
    /// The script pairs.
    case pair
    /// The script opens a channel.
    case openChannel
    /// The phone was sent a value.
    case value
  }

  public init(
    time: Double, action: Word<Action>, characteristic: BluetoothUUID? = nil, value: HexBytes? = nil,
    error: RPCError? = nil
  ) {
    self.time = time
    self.action = action
    self.characteristic = characteristic
    self.value = value
    self.error = error
  }
}

/// Makes a simulated phone visit an advertisement of this machine.
public enum SimulationVisit: ClientCall {
  public static let method = MethodDescription(
    "simulation.visit", needs: .simulation,
    """
    Has a simulated phone connect to the first matching advertisement, do its script, and disconnect. Answers when its \
    link has ended; without an advertisement it waits as long as the caller does. A phone of the same address as before \
    has its keys still.
    """)
  public struct Params: RPCPayload, Hashable {
    /// A phone of a scenario, as JSON5 in a text. The phone visits once, regardless of its member returnAfter.
    public var phone: String
    public init(phone: String) { self.phone = phone }
  }
  public struct Result: RPCPayload, Hashable {
    /// The first 1,000 steps of the visit, in order.
    public var steps: [SimulationVisitStep]
    /// True if the link lasted to the end of the script.
    public var complete: Bool
    public init(steps: [SimulationVisitStep], complete: Bool) {
      self.steps = steps
      self.complete = complete
    }
  }
}

/// Switches a simulated adapter, as if from outside.
public enum SimulationAdapter: ClientCall {
  public typealias Result = Empty
  public static let method = MethodDescription(
    "simulation.adapter", needs: .simulation,
    """
    Has a simulated adapter be switched off or on by another program, unplugged, or fail. "on" plugs it in, repairs it \
    and switches it on, which takes its "startDelay".
    """)
  /// The states.
  public enum State: String, Vocabulary {
    /// Plugged in, in order and switched on.
    case on
    /// Switched off.
    case off
    /// Unplugged.
    case absent
    /// Does not work.
    case failed
  }
  public struct Params: RPCPayload, Hashable {
    /// The adapter; the first simulated one if missing.
    public var adapter: String?
    /// "on", "off", "absent" or "failed".
    public var state: State
    public init(adapter: String? = nil, state: State) {
      self.adapter = adapter
      self.state = state
    }
  }
}
