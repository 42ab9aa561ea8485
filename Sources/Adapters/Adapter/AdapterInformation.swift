import Bluetooth

/// An adapter's identity and capabilities.
public struct AdapterInformation: Hashable, Sendable {
  /// The name by which users choose it: "hci0", "simulated".
  public var id: String
  /// The kind of adapter: "kernel", "host", "simulated".
  public var kind: String
  /// Its address; `.none` while it is not known.
  public var address: DeviceAddress
  /// The private address under which it is seen at present; nil if it is seen under the one that it keeps.
  public var privateAddress: DeviceAddress?
  /// The name of the controller as the system calls it; may be empty.
  public var name: String
  /// The company identifier of the controller's maker (Assigned Numbers, 7.1); nil while it is not known.
  public var company: UInt16?
  /// The version of the Core Specification that the controller follows, as HCI numbers them (Assigned Numbers, 2.1): 13
  /// is 5.4; nil while it is not known.
  public var version: UInt8?
  /// Whether the controller has the extended advertising family (Core 5.4, Vol 6, Part B, 4.6.12).
  public var hasExtendedAdvertising: Bool
  /// How many advertisements it can send at once.
  public var maximumAdvertisingSets: Int
  /// How many octets one advertisement can carry: 31 for legacy, up to 1650 for extended ones.
  public var maximumAdvertisingDataLength: Int
  /// Whether the controller has periodic advertising.
  public var hasPeriodicAdvertising = false
  /// Whether devices can respond to its periodic advertising.
  public var hasPeriodicResponses = false
  /// Whether the controller can follow periodic advertising.
  public var canSynchronise = false
  /// Whether it can follow trains with subevents, and respond to them.
  public var canRespond = false
  /// The PHYs that it has; LE 1M alone while that is not known.
  public var phys: Set<PHY> = [.le1M]
  /// How many octets a packet that it sends on a link can carry, 27 to 251; 27 while that is not known.
  public var longestPacket = 27
  /// The activities that the controller cannot have at once and does in turns at present; empty while it can.
  public var takingTurns: [AdapterActivity] = []
  /// The activities that are wanted, and that the controller cannot have beside its present links.
  public var heldBack: [AdapterActivity] = []
  /// The quirks of the controller that keep something from working.
  public var quirks: [QuirkTable.Entry] = []

  /// Describes an adapter of which only the name is known.
  public init(id: String, kind: String) {
    self.id = id
    self.kind = kind
    address = .none
    name = ""
    hasExtendedAdvertising = false
    maximumAdvertisingSets = 1
    maximumAdvertisingDataLength = 31
  }
}

/// Whether an adapter works.
public enum AdapterState: Hashable, Sendable {
  /// There is no such controller at the moment.
  case absent
  /// The controller is there and has no power.
  case off
  /// The adapter is being brought into use.
  case starting
  /// The adapter works.
  case on
  /// The system went to sleep while the adapter worked, and the adapter will work again: requests wait for that.
  case suspended
  /// The adapter cannot be used; the problem has the reason and the remedy. It is retried automatically.
  case failed(AdapterProblem)

  /// The state without its reason.
  public var condition: AdapterCondition {
    switch self {
    case .absent: .absent
    case .off: .off
    case .starting: .starting
    case .on: .on
    case .suspended: .suspended
    case .failed: .failed
    }
  }
}

/// Why an adapter cannot be used, and the remedy.
public struct AdapterProblem: Hashable, Sendable {
  /// The kinds of problem.
  public typealias Kind = AdapterProblemKind

  /// The kind of the problem.
  public var kind: Kind
  /// The fault, in lower case without a period.
  public var message: String
  /// The remedy, likewise.
  public var remedy: String

  /// Describes a problem.
  public init(kind: Kind, message: String, remedy: String) {
    self.kind = kind
    self.message = message
    self.remedy = remedy
  }

  /// The fault and the remedy, for an error or a log.
  public var text: String { "\(message); \(remedy)" }
}
