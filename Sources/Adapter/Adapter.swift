import Bluetooth

/// The seam: one Bluetooth LE controller, in the words of GAP (Core 5.4, Vol 3, Part C).
///
/// What callers set here is what they *want*. The adapter keeps it, brings the controller to it, brings it back after
/// the controller went away and came back, and tells through `onEvent` what is really so. All calls and all events
/// happen on one thread, and no event is delivered from inside the call that caused it.
public protocol Adapter: AnyObject {
  /// Who this adapter is and what it can do; grows more precise when it comes on.
  var information: AdapterInformation { get }
  /// Whether it works.
  var state: AdapterState { get }
  /// Who hears what happens. Set it before `start()`.
  var onEvent: ((AdapterEvent) -> Void)? { get set }

  /// Looks for the controller and brings it into use. Never fails: what is wrong becomes a `state`, and is mended when it can be.
  func start()
  /// Ends everything, leaves the controller as it was found, and calls back once.
  func stop(_ done: @escaping () -> Void)
  /// Switches the controller's power. The outcome is a change of `state`.
  func setPower(_ on: Bool, _ done: @escaping (BluetoothError?) -> Void)

  /// The scan that is wanted from now on; nil for none.
  func setScan(_ parameters: ScanParameters?)

  /// The advertisement that is wanted under this number from now on; nil for none.
  func setAdvertising(_ set: AdvertisingSetID, _ parameters: AdvertisingParameters?)

  /// Wants a connection to this device, until it is there or `cancelConnect` is called. There is no deadline, attempts that
  /// fail are repeated with a back-off, and any number of devices can be waited for at once.
  func connect(to address: DeviceAddress, _ parameters: ConnectionParameters)
  /// Takes the wish back. After this call no connection that we started to that device is announced.
  func cancelConnect(to address: DeviceAddress)
}

/// What an adapter tells its owner.
public enum AdapterEvent {
  /// `state` or `information` changed. In any state but `.on` there are no links, no scan and no advertising; links ended
  /// before this event.
  case stateChanged
  /// The controller began or ceased to scan.
  case scanning(Bool)
  /// An advertisement or a scan response was received.
  case report(AdvertisingReport)
  /// The controller began or ceased to advertise this set, or cannot.
  case advertising(AdvertisingSetID, AdvertisingStatus)
  /// A link is there; `link.role` tells who started it. Set `link.onEvent` before returning.
  case connected(any Link)
  /// One attempt to connect failed; another follows after the back-off unless the wish is taken back.
  case connectAttemptFailed(DeviceAddress, BluetoothError)
}

/// A connection to one device, carrying ATT packets (L2CAP channel 0x0004).
public protocol Link: AnyObject {
  /// Unique among all links since the daemon's start.
  var id: LinkID { get }
  /// The other device, as it called itself when the link came up.
  var peer: DeviceAddress { get }
  /// Our role on this link: `.central` if we started it.
  var role: LinkRole { get }
  /// The connection's parameters as last told by the controller, where known.
  var parameters: LinkParameters? { get }
  /// How many attempts the connection took; 1 for those that came to us.
  var attempts: Int { get }
  /// Whether the link is encrypted and how well.
  var security: LinkSecurity { get }
  /// The largest ATT MTU that the link can carry, 23 to 517 octets.
  var maximumMTU: Int { get }
  /// Who hears what happens on the link.
  var onEvent: ((LinkEvent) -> Void)? { get set }

  /// Whether packets of the device are wanted; true at first. While it is false the link holds back what comes, as far as it
  /// can: nothing is dropped for it, and when there is no room left it is delivered all the same. The end is told at once.
  var isReading: Bool { get set }
  /// False when what was sent waits for the air; `.writable` follows when there is room again. Notifications and commands
  /// ought to wait for it; answers may be sent all the same.
  var isWritable: Bool { get }
  /// Sends one ATT packet. Packets leave in order and whole. After the link's end it does nothing.
  func send(_ packet: [UInt8])
  /// Ends the link. `.ended` follows.
  func disconnect()
  /// Asks for other parameters. Between two controllers that agree they change, and `parametersChanged` follows; on a link that came
  /// to us the central decides. Nothing is told of a refusal.
  func request(_ parameters: ConnectionParameters)
  /// Measures the signal strength: −127 to +20 dBm.
  func readRSSI(_ done: @escaping (Result<Int, BluetoothError>) -> Void)
}

/// What happens on a link.
public enum LinkEvent {
  /// One ATT packet came.
  case received([UInt8])
  /// So many packets of the device, 1 or more, came and had no room on this machine. What is told next came after some or
  /// all of them.
  case lost(Int)
  /// There is room again after `isWritable` was false.
  case writable
  /// `parameters` changed.
  case parametersChanged
  /// `security` changed.
  case securityChanged
  /// The link is no more; nothing follows. The error carries the controller's reason: domain `hci`, such as 0x13 remote
  /// user terminated, 0x16 terminated by us, 0x08 supervision timeout.
  case ended(BluetoothError)
}

/// The number of a link, unique among all adapters since the daemon's start.
public struct LinkID: Hashable, Sendable {
  /// The number.
  public let value: UInt32
  /// Makes a number into an identifier.
  public init(_ value: UInt32) { self.value = value }
}

/// Who is who on a link.
public enum LinkRole: String, Hashable, Sendable {
  /// We started the connection.
  case central
  /// The other device started it.
  case peripheral
}

/// How a link is protected (Core 5.4, Vol 3, Part C, 10.2.1).
public struct LinkSecurity: Hashable, Sendable {
  /// 1 none, 2 encrypted, 3 encrypted and authenticated, 4 the same with LE Secure Connections.
  public var level: Int
  /// The size of the encryption key in octets: 7 to 16, 0 without encryption.
  public var keySize: Int
  /// A link without encryption.
  public static let none = LinkSecurity(level: 1, keySize: 0)
  /// Makes a description of a link's protection.
  public init(level: Int, keySize: Int) {
    self.level = level
    self.keySize = keySize
  }
}

/// The parameters of a link as the controller told them.
public struct LinkParameters: Hashable, Sendable {
  /// Time between two connection events, 7.5 ms to 4 s.
  public var interval: Duration
  /// How many events the peripheral may sleep through, 0 to 499.
  public var latency: Int
  /// After this long without a packet the link is lost, 100 ms to 32 s.
  public var supervisionTimeout: Duration
  /// Makes a set of parameters.
  public init(interval: Duration, latency: Int, supervisionTimeout: Duration) {
    self.interval = interval
    self.latency = latency
    self.supervisionTimeout = supervisionTimeout
  }
}
