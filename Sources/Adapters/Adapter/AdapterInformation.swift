import Bluetooth

/// An adapter's identity and capabilities.
public struct AdapterInformation: Hashable, Sendable {
  /// The name for users to choose it: "hci0", "simulated".
  public var id: String
  /// The kind of adapter: "kernel", "host", "simulated".
  public var kind: String
  /// Its address; `.none` while it is not known.
  public var address: DeviceAddress
  /// The private address on the air at present; nil if the identity address is used.
  public var privateAddress: DeviceAddress?
  /// The system's name for the controller; may be empty.
  public var name: String
  /// The controller maker's company identifier (Assigned Numbers, 7.1); nil while unknown.
  public var company: UInt16?
  /// The controller's version of the Core Specification, as numbered in HCI (Assigned Numbers, 2.1): 13 is 5.4; nil
  /// while unknown.
  public var version: UInt8?
  /// True if the controller supports the extended advertising family (Core 5.4, Vol 6, Part B, 4.6.12).
  public var hasExtendedAdvertising: Bool
  /// Maximum simultaneous advertisements.
  public var maximumAdvertisingSets: Int
  /// Maximum octets of an advertisement: 31 for legacy, up to 1650 for extended ones.
  public var maximumAdvertisingDataLength: Int
  /// True if the controller supports periodic advertising.
  public var hasPeriodicAdvertising = false
  /// True if devices can respond to its periodic advertising.
  public var hasPeriodicResponses = false
  /// True if the controller can follow periodic advertising.
  public var canSynchronise = false
  /// True if it can follow trains with subevents, and respond to them.
  public var canRespond = false
  /// The supported PHYs; LE 1M alone while unknown.
  public var phys: Set<PHY> = [.le1M]
  /// The features of the controller's Link Layer, those beyond the first 64 only where they matter here; nil while
  /// unknown, and of simulated adapters.
  public var features: LinkLayerFeatures?
  /// Maximum octets in a packet it sends on a link, 27 to 251; 27 while unknown.
  public var longestPacket = 27
  /// The activities the controller cannot run at once and runs in turns at present; empty while it can.
  public var takingTurns: [AdapterActivity] = []
  /// The wanted activities that the controller cannot run beside its present links.
  public var heldBack: [AdapterActivity] = []
  /// The reason for its absence, if it is absent and that is known.
  public var absence: AdapterProblem?
  /// The quirks of the controller that keep something from working.
  public var quirks: [QuirkTable.Entry] = []

  /// Describes an adapter known only by name.
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

/// An adapter's state.
public enum AdapterState: Hashable, Sendable {
  /// There is no such controller at present.
  case absent
  /// The controller is present, without power.
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

/// The reason why an adapter cannot be used, and the remedy.
public struct AdapterProblem: Hashable, Sendable {
  /// The kinds of problem.
  public typealias Kind = AdapterProblemKind

  /// The kind of problem.
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
