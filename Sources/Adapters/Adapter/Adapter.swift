import Bluetooth

/// The seam: one Bluetooth LE controller, in the words of GAP (Core 5.4, Vol 3, Part C).
///
/// Callers set the state that they *want*. The adapter keeps it, brings the controller to it, brings it back after the
/// controller went away and came back, and reports the actual state through `onEvent`. All calls and all events happen
/// on one thread, and no event is delivered from inside the call that caused it.
public protocol Adapter: AnyObject {
  /// The adapter's identity and capabilities; more is known once it is switched on.
  var information: AdapterInformation { get }
  /// Whether it works.
  var state: AdapterState { get }
  /// The times since the controller was last heard.
  var silence: ControllerSilence { get }
  /// The event handler. Set it before `start()`.
  var onEvent: ((AdapterEvent) -> Void)? { get set }

  /// Looks for the controller and brings it into use. Never fails: problems are reported as a `state`, and are retried.
  func start()
  /// Stops everything, restores the controller's earlier settings, and calls back once.
  func stop(_ done: @escaping () -> Void)
  /// Switches the controller's power. The outcome is a change of `state`.
  func setPower(_ on: Bool, _ done: @escaping (BluetoothError?) -> Void)

  /// The scan that is wanted from now on; nil for none.
  func setScan(_ parameters: ScanParameters?)

  /// The advertisement that is wanted under this number from now on; nil for none.
  func setAdvertising(_ set: AdvertisingSetID, _ parameters: AdvertisingParameters?)

  /// Has an advertisement's train send data in a subevent, once, the next time that the controller asks for it.
  /// - Parameter done: called once, not from inside the call: with nil when the controller has the data, else with why
  ///   not: `GAPError.cancelled` if newer data for that subevent took its place, `BledError.unknownHandle` without such
  ///   a train.
  func setSubevent(_ data: SubeventData, of set: AdvertisingSetID, _ done: @escaping (BluetoothError?) -> Void)

  /// The train of periodic advertisements that is to be followed from now on, or (nil) no longer. It is found only
  /// while the adapter scans on the PHY on which it is announced, and found again after it was lost.
  func setSync(_ train: PeriodicTrain, _ parameters: SyncParameters?)

  /// Chooses the subevents of a train that are received, in place of earlier ones, until the train is lost.
  /// - Parameters:
  ///   - subevents: 1 to 128 of them, in order, without duplicates.
  ///   - done: called once, not from inside the call: with nil when the controller receives them, else with why not:
  ///     `GAPError.notSupported`, `BledError.unknownHandle` if the adapter is not synchronised with the train, or the
  ///     controller's error; the earlier ones stay then.
  func setSubevents(_ subevents: [UInt8], of train: PeriodicTrain, _ done: @escaping (BluetoothError?) -> Void)

  /// Sends a response to a packet of a train, once.
  /// - Parameter done: called once, not from inside the call: with nil when the controller has it, else with why not,
  ///   as above; an error of the domain `hci` with code 0x46 if the slot has passed.
  func respond(_ response: TrainResponse, to train: PeriodicTrain, _ done: @escaping (BluetoothError?) -> Void)

  /// Keeps a connection to this device pending until it is established or `cancelConnect` is called. There is no
  /// deadline, attempts that fail are repeated with a back-off, and any number of devices can be waited for at once.
  func connect(to address: DeviceAddress, _ parameters: ConnectionParameters)
  /// Cancels the pending connection. After this call no connection that we initiated to that device is announced.
  func cancelConnect(to address: DeviceAddress)

  /// Listens for channels that devices open; they come as `LinkEvent.channel`. While the adapter is not on no device
  /// can open any, and afterwards they can again.
  /// - Parameters:
  ///   - psm: the number of the listener: 0x80 to 0xFF, or 0x27, that of enhanced ATT bearers; nil: the adapter
  ///     chooses.
  ///   - parameters: the parameters of its channels.
  /// - Returns: the number.
  /// - Throws: `BledError.alreadyInProgress` if the number is taken, `.limitReached` if all are.
  func publishChannel(_ psm: UInt16?, _ parameters: ChannelParameters) throws(BluetoothError) -> UInt16
  /// Ends listening under this number; channels that are open stay.
  func unpublishChannel(_ psm: UInt16)

  /// Sets the owner of the table of quirks. Before `start()`.
  func setQuirks(_ keeper: any QuirkKeeper)
  /// Sets the owner of all bonds, where the adapter looks keys up. Before `start()`.
  func setBonds(_ bonds: any BondSource)
  /// The owner has bonds that the adapter did not make: imported ones, or earlier ones that hold again because the
  /// keys in their place were refused. They are used from now on.
  func bondsAdded()
  /// Whether the controller resolves the private addresses of the device with this identity by itself: it reports and
  /// connects to the device under its identity, under each of the device's addresses.
  func resolves(_ identity: DeviceAddress) -> Bool
  /// Whether directed advertising reaches the device with this identity under its private addresses.
  func callsPrivately(_ identity: DeviceAddress) -> Bool
  /// A device that the controller resolves was reported under another address. If that is one that it should have
  /// resolved, it does not.
  func doesNotResolve(_ identity: DeviceAddress, at address: DeviceAddress)
  /// Sets the longest time between two connection events at which a device listens, its latency included, that it gets
  /// from now on when it asks for other parameters on a link on which we are central. Adapters whose links another host
  /// runs leave it to that.
  func setLongestInterval(_ interval: Duration)
  /// How it pairs from now on.
  func setPairing(_ settings: PairingSettings)
  /// Sets under which addresses it is seen; nil, the default, for the one that it keeps. Before `start`.
  func setPrivacy(_ settings: PrivacySettings?)
  /// Answers a question of a pairing; one that is over is left alone.
  func answer(_ question: QuestionID, _ answer: PairingAnswer)
  /// Makes data for devices that get them by another way than the air. They replace the data made before. Their
  /// temporary key counts in pairings that devices begin.
  /// - Parameter done: called once; fails with `GAPError.notSupported` where the controller has no LE Secure
  ///   Connections.
  func readOutOfBand(_ done: @escaping (Result<OutOfBandData, BluetoothError>) -> Void)
  /// The data that a device gave by another way than the air, with which it pairs from now on, in place of any before.
  /// - Throws: `GAPError.notSupported` if the adapter cannot pair with such data.
  func setOutOfBand(_ data: OutOfBandData, of address: DeviceAddress) throws(BluetoothError)
  /// Removes the data of a device, if there are any.
  func removeOutOfBand(of address: DeviceAddress)
  /// Removes the keys that this machine and a device share, if there are any: neither trusts the other any more. Its
  /// link ends. The owner of the bonds has removed its own, or refused new ones.
  func unpair(_ address: DeviceAddress)

  /// Tells of the packets between the adapter and its controller from now on, beginning with packets that describe the
  /// present controllers. Each caller has a tap of its own.
  /// - Parameter onEvent: called on the daemon's thread, not from inside this call.
  /// - Throws: `GAPError.notSupported`, which says why, if they cannot be seen.
  func tap(_ onEvent: @escaping (TapEvent) -> Void) throws(BluetoothError) -> any PacketTap
}

extension Adapter {
  /// An adapter without a controller over HCI knows none.
  public var silence: ControllerSilence { ControllerSilence() }
  /// An adapter without a controller over HCI has none.
  public func setQuirks(_ keeper: any QuirkKeeper) {}
  /// No controller does unless it is told to.
  public func resolves(_ identity: DeviceAddress) -> Bool { false }
  /// Only a controller that resolves private addresses does.
  public func callsPrivately(_ identity: DeviceAddress) -> Bool { false }
  /// Nothing follows from it.
  public func doesNotResolve(_ identity: DeviceAddress, at address: DeviceAddress) {}
}

/// The times since a controller was last heard; nil where it was not heard since it came into use.
public struct ControllerSilence: Hashable, Sendable {
  /// The time since the last advertisement or scan response.
  public var report: Duration?
  /// The time since the last event, reports included.
  public var event: Duration?

  /// Makes the times.
  public init(report: Duration? = nil, event: Duration? = nil) { (self.report, self.event) = (report, event) }
}

/// The events of an adapter.
public enum AdapterEvent {
  /// `state` or `information` changed. In any state but `.on` there are no links, no scan and no advertising; links
  /// ended before this event.
  case stateChanged
  /// The controller started or stopped scanning.
  case scanning(Bool)
  /// The controller watches for the devices of the scan's `watched` from now on, or no longer. Meanwhile devices that
  /// are there are reported once, when it begins, and later changes come as `presence`. In any state but `.on` it
  /// does not.
  case watching(Bool)
  /// A watched device is there again, or was not heard for its time.
  case presence(DeviceAddress, Bool)
  /// An advertisement or a scan response was received.
  case report(AdvertisingReport)
  /// The controller started or stopped advertising this set, or cannot advertise it.
  case advertising(AdvertisingSetID, AdvertisingStatus)
  /// Devices responded to a subevent of this advertisement's train, or its data could not be sent.
  case responses(AdvertisingSetID, SubeventResponses)
  /// Something happened to a train that is to be followed. In any state but `.on` none is.
  case periodic(PeriodicTrain, PeriodicEvent)
  /// A link is there; `link.role` tells which side initiated it. Set `link.onEvent` before returning.
  case connected(any Link)
  /// Something happened while the adapter paired with this device.
  case pairing(DeviceAddress, PairingEvent)
  /// One attempt to connect failed; another follows after the back-off unless the pending connection is cancelled.
  case connectAttemptFailed(DeviceAddress, BluetoothError)
  /// A device to which a connection is pending could not be looked for in the last ten seconds, for this reason. It is
  /// looked for as soon as that is possible; nothing is told then.
  case connectWaiting(DeviceAddress, BluetoothError)
}

/// A connection to one device, carrying ATT packets (L2CAP channel 0x0004).
public protocol Link: AnyObject {
  /// Unique among all links since the daemon's start.
  var id: LinkID { get }
  /// The other device, as it called itself when the link came up.
  var peer: DeviceAddress { get }
  /// Our role on this link: `.central` if we started it.
  var role: LinkRole { get }
  /// Whether a packet has to be received on the link before it ends, as a bug of the kernel demands. The default is no.
  var mustReceive: Bool { get }
  /// The connection's parameters as last told by the controller, where known.
  var parameters: LinkParameters? { get }
  /// The PHYs and the packet lengths of the connection as last told by the controller.
  var layer: LinkLayer { get }
  /// How many attempts the connection took; 1 for incoming links.
  var attempts: Int { get }
  /// Whether the link is encrypted and how well, at this moment; it may be better before `securityChanged` says so.
  var security: LinkSecurity { get }
  /// The largest ATT MTU that the link can carry, 23 to 517 octets.
  var maximumMTU: Int { get }
  /// The link's event handler.
  var onEvent: ((LinkEvent) -> Void)? { get set }

  /// Whether packets from the device are read; initially true. While it is false the link holds back incoming packets,
  /// as far as it can: nothing is dropped because of it, and when no room is left packets are delivered anyway. The end
  /// is reported at once.
  var isReading: Bool { get set }
  /// False while sent packets wait to be transmitted; `.writable` follows when there is room again. Notifications and
  /// commands should wait for it; responses may be sent regardless.
  var isWritable: Bool { get }
  /// Sends one ATT packet. Packets leave in order and whole. After the link's end it does nothing.
  func send(_ packet: [UInt8])
  /// Ends the link. `.ended` follows.
  func disconnect()
  /// Asks for other parameters. Between two controllers that agree they change, and `parametersChanged` follows; on a
  /// link that came to us the central decides. A request that has not been made yet is replaced by a newer one.
  /// - Parameter done: called once: with nil when the parameters are settled or the request was replaced, else with why
  ///   they stay as they are; `GAPError.notSupported` if one of the controllers cannot negotiate them, or lacks the
  ///   subrating that is wanted: the other parameters are the wanted ones of that moment.
  func request(_ parameters: ConnectionParameters, _ done: @escaping (BluetoothError?) -> Void)
  /// The parameters that programs want on the link from now on, nil for none. Where the adapter answers the device's
  /// own requests for parameters, on a link that we started, these get a part that agrees with them, or a refusal.
  func setWish(_ parameters: ConnectionParameters?)
  /// Asks for another PHY in both directions (Core 5.4, Vol 6, Part B, 5.1.10). A request that has not been made yet is
  /// replaced by a newer one.
  /// - Parameter done: called once: with nil when the link has that PHY or the request was replaced, else with why it
  ///   keeps the one it has; `GAPError.notSupported`, which names the side that lacks it, if one cannot use it.
  func request(_ phy: LinkPHY, _ done: @escaping (BluetoothError?) -> Void)
  /// Lets our packets on the link be longer or shorter from now on; the other side decides about its own (Core 5.4, Vol
  /// 6, Part B, 4.5.10). A change comes later, as `parametersChanged`.
  /// - Parameters:
  ///   - octets: the longest payload, 27 to 251.
  ///   - done: called once: with nil when the controller knows it, else with why not, as above.
  func request(longestPacket octets: Int, _ done: @escaping (BluetoothError?) -> Void)
  /// Whether channels in enhanced credit-based flow control mode can be opened here, as far as this side is concerned.
  var hasEnhancedChannels: Bool { get }
  /// Opens a channel to a listener of the device (Core 5.4, Vol 3, Part A, 4.22).
  /// - Parameters:
  ///   - psm: the number of the listener, 1 to 255.
  ///   - parameters: the channel's parameters; the level does not matter here.
  ///   - done: called once, not from inside the call; with `GAPError.connectionFailed` if the device refuses.
  func openChannel(
    to psm: UInt16, _ parameters: ChannelParameters,
    _ done: @escaping (Result<any Channel, BluetoothError>) -> Void)
  /// Raises the protection of the link: encrypts it with the keys of a bond, or pairs where there are none that are
  /// good enough. Questions come as `AdapterEvent.pairing`.
  /// - Parameters:
  ///   - level: 2 encrypted, 3 authenticated, 4 the same with LE Secure Connections.
  ///   - capability: the capability of a person for a pairing that this begins.
  ///   - usesOwnData: whether the data of `readOutOfBand` count in such a pairing; with a kernel's adapter they always
  ///     do.
  ///   - done: called once: with nil when the link has that level, else with why not: `GAPError.pairingFailed` if no
  ///     pairing came of it, or the keys of the bond are of no use; `GAPError.disconnected` or `.notConnected` if the
  ///     link ended; any other error if it could not be encrypted this time.
  func raiseSecurity(
    to level: Int, as capability: PairingCapability, usesOwnData: Bool, _ done: @escaping (BluetoothError?) -> Void
  )
  /// Has the link encrypted with the keys of its bond, and begins no pairing. On a link that came to us the device is
  /// asked to do it (Core 5.4, Vol 3, Part H, 2.4.6) where that disturbs nothing else on the link; otherwise it is
  /// waited for.
  /// - Parameters:
  ///   - level: the level that these keys give the link, 2 to 4.
  ///   - done: called once, as that of `raiseSecurity`.
  func encrypt(to level: Int, _ done: @escaping (BluetoothError?) -> Void)
  /// Transfers a train, so that the device can follow it without a scan; whether it does is not told.
  /// - Parameters:
  ///   - train: which one.
  ///   - serviceData: a value for the device's host.
  ///   - done: called once: with nil when the controller has it, else with why not: `GAPError.notSupported`, which
  ///     names the side that lacks it, `BledError.unknownHandle` without such a train at present, or
  ///     `GAPError.notConnected`.
  func transfer(_ train: TransferredTrain, serviceData: UInt16, _ done: @escaping (BluetoothError?) -> Void)
  /// Waits for a train that the device transfers. The adapter follows it from then on, as if `Adapter.setSync` had been
  /// called for it.
  /// - Parameters:
  ///   - parameters: how it is followed.
  ///   - done: called once, not from inside the call: with the train, or why there is none: it could not be followed,
  ///     the link ended, or `stopReceivingTrain` was called. Only one call waits at a time.
  func receiveTrain(
    _ parameters: SyncParameters, _ done: @escaping (Result<ReceivedTrain, BluetoothError>) -> Void)
  /// Trains that the device transfers are left alone again.
  func stopReceivingTrain()
  /// Measures the signal strength: −127 to +20 dBm.
  func readRSSI(_ done: @escaping (Result<Int, BluetoothError>) -> Void)
}

/// The events of a link.
public enum LinkEvent {
  /// One ATT packet came.
  case received([UInt8])
  /// This many packets from the device, 1 or more, were dropped on this machine for lack of room. The next event came
  /// after some or all of them.
  case lost(Int)
  /// There is room again after `isWritable` was false.
  case writable
  /// `parameters` or `layer` changed.
  case parametersChanged
  /// `security` changed.
  case securityChanged
  /// The device opened a channel to a listener of ours. Set its `onEvent` before returning.
  case channel(any Channel)
  /// The link has ended; nothing follows. The error carries the controller's reason: domain `hci`, such as 0x13 remote
  /// user terminated, 0x16 terminated by us, 0x08 supervision timeout. Where the adapter goes off, away or fails it is
  /// `GAPError.adapterOff`, `.adapterAbsent` or `.adapterFailed` instead, and `stateChanged` follows.
  case ended(BluetoothError)
}

/// The number of a link, unique among all adapters since the daemon's start.
public struct LinkID: Hashable, Sendable {
  /// The number.
  public let value: UInt32
  /// Makes an identifier from a number.
  public init(_ value: UInt32) { self.value = value }
}

/// How a link is protected (Core 5.4, Vol 3, Part C, 10.2.1).
public struct LinkSecurity: Hashable, Sendable {
  /// The key that level 4 takes, in octets.
  public static let longestKey = 16
  /// 1 none, 2 encrypted, 3 encrypted and authenticated, 4 the same with LE Secure Connections and a key of 16 octets.
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
  /// Makes a description of the protection that a key gives.
  /// - Parameters:
  ///   - isAuthenticated: whether its pairing was protected against a person in the middle.
  ///   - isSecureConnections: whether that was LE Secure Connections.
  ///   - keySize: its size, 7 to 16 octets.
  public init(isAuthenticated: Bool, isSecureConnections: Bool, keySize: Int) {
    let isHighest = isSecureConnections && keySize >= Self.longestKey
    self.init(level: isAuthenticated ? (isHighest ? 4 : 3) : 2, keySize: keySize)
  }
}

extension Adapter {
  /// Another host runs the links, or the device.
  public func setLongestInterval(_ interval: Duration) {}
}

extension Link {
  /// No other adapter has the bug.
  public var mustReceive: Bool { false }

  /// Another host answers the device.
  public func setWish(_ parameters: ConnectionParameters?) {}

  /// Where there are keys, raising the protection begins no pairing.
  public func encrypt(to level: Int, _ done: @escaping (BluetoothError?) -> Void) {
    raiseSecurity(to: level, as: .none, usesOwnData: false, done)
  }
}
