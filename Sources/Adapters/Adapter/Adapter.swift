import Bluetooth

/// The seam: one Bluetooth LE controller, in GAP's terms (Core 5.4, Vol 3, Part C).
///
/// Callers set the state that they *want*. The adapter keeps it, brings the controller to it, restores it after the
/// controller was lost and returned, and reports the actual state through `onEvent`. All calls and all events happen on
/// one thread, and no event is delivered from inside the call that caused it.
public protocol Adapter: AnyObject {
  /// The adapter's identity and capabilities; more is known once it is switched on.
  var information: AdapterInformation { get }
  /// The actual state.
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

  /// Sets the wanted scan; nil for none.
  func setScan(_ parameters: ScanParameters?)

  /// Sets the advertisement wanted under this number; nil for none.
  func setAdvertising(_ set: AdvertisingSetID, _ parameters: AdvertisingParameters?)

  /// Sends data in a subevent of an advertisement's train, once, at the controller's next request for it.
  /// - Parameter done: called once, not from inside the call: with nil when the controller has the data, else with the
  ///   error: `GAPError.cancelled` if newer data for that subevent replaced it, `BledError.unknownHandle` without such
  ///   a train.
  func setSubevent(_ data: SubeventData, of set: AdvertisingSetID, _ done: @escaping (BluetoothError?) -> Void)

  /// Follows a train of periodic advertisements from now on, or (nil) no longer. It is found only while the adapter
  /// scans on the PHY of its announcement, and found again after a loss.
  func setSync(_ train: PeriodicTrain, _ parameters: SyncParameters?)

  /// Chooses the train's subevents to receive, replacing earlier ones, until the train is lost.
  /// - Parameters:
  ///   - subevents: 1 to 128 of them, in order, without duplicates.
  ///   - done: called once, not from inside the call: with nil when the controller receives them, else with why not:
  ///     `GAPError.notSupported`, `BledError.unknownHandle` if the adapter is not synchronised with the train, or the
  ///     controller's error; the earlier ones stay then.
  func setSubevents(_ subevents: [UInt8], of train: PeriodicTrain, _ done: @escaping (BluetoothError?) -> Void)

  /// Sends a response to a train's packet, once.
  /// - Parameter done: called once, not from inside the call: with nil when the controller has it, else with the error,
  ///   as above; code 0x46 in the domain `hci` if the slot has passed.
  func respond(_ response: TrainResponse, to train: PeriodicTrain, _ done: @escaping (BluetoothError?) -> Void)

  /// Keeps a connection to this device pending until it is established or `cancelConnect` is called. There is no
  /// deadline, failed attempts are repeated with a back-off, and any number of connections may be pending at once.
  func connect(to address: DeviceAddress, _ parameters: ConnectionParameters)
  /// Cancels the pending connection. After this call no connection initiated by us to the device is announced.
  func cancelConnect(to address: DeviceAddress)

  /// Listens for channels from devices, reported as `LinkEvent.channel`. Devices can open them only while the adapter
  /// is on.
  /// - Parameters:
  ///   - psm: the listener's number: 0x80 to 0xFF, or 0x27 for enhanced ATT bearers; nil: the adapter chooses.
  ///   - parameters: the channels' parameters.
  /// - Returns: the number.
  /// - Throws: `BledError.alreadyInProgress` if the number is taken, `.limitReached` if all are.
  func publishChannel(_ psm: UInt16?, _ parameters: ChannelParameters) throws(BluetoothError) -> UInt16
  /// Ends listening under this number; open channels stay.
  func unpublishChannel(_ psm: UInt16)

  /// Sets the owner of the table of quirks. Before `start()`.
  func setQuirks(_ keeper: any QuirkKeeper)
  /// Sets the owner of all bonds, where the adapter looks keys up. Before `start()`.
  func setBonds(_ bonds: any BondSource)
  /// The owner has bonds not made by the adapter: imported ones, or earlier ones valid again after new keys were
  /// refused. They are used from now on.
  func bondsAdded()
  /// Returns true if the controller resolves the private addresses of the device with this identity: it reports the
  /// device under its identity, and connects to it at any of its addresses.
  func resolves(_ identity: DeviceAddress) -> Bool
  /// Returns true if directed advertising reaches the device with this identity under its private addresses.
  func callsPrivately(_ identity: DeviceAddress) -> Bool
  /// Reports that a device with resolved addresses was received under another address. If the controller should have
  /// resolved that address, it does not resolve at all.
  func doesNotResolve(_ identity: DeviceAddress, at address: DeviceAddress)
  /// Sets the maximum time between two connection events at which a device listens, latency included. It applies from
  /// now on to devices that request other parameters on a link with us as central. Adapters with links run by another
  /// host leave it to that host.
  func setLongestInterval(_ interval: Duration)
  /// How it pairs from now on.
  func setPairing(_ settings: PairingSettings)
  /// Sets the kind of address on the air; nil, the default, for the identity address. Before `start`.
  func setPrivacy(_ settings: PrivacySettings?)
  /// Answers a pairing question; a question already closed is ignored.
  func answer(_ question: QuestionID, _ answer: PairingAnswer)
  /// Makes out-of-band data for devices, replacing earlier data. Its temporary key counts in pairings begun by devices.
  /// - Parameter done: called once; fails with `GAPError.notSupported` where the controller has no LE Secure
  ///   Connections.
  func readOutOfBand(_ done: @escaping (Result<OutOfBandData, BluetoothError>) -> Void)
  /// Sets the out-of-band data received from a device, used in its pairings from now on, in place of any before.
  /// - Throws: `GAPError.notSupported` if the adapter cannot pair with such data.
  func setOutOfBand(_ data: OutOfBandData, of address: DeviceAddress) throws(BluetoothError)
  /// Removes a device's data, if there is any.
  func removeOutOfBand(of address: DeviceAddress)
  /// Removes the keys shared with a device, if there are any: mutual trust ends. Its link ends. The bonds' owner has
  /// removed its copy, or refused new ones.
  func unpair(_ address: DeviceAddress)

  /// Reports the packets between the adapter and its controller from now on, beginning with packets that describe the
  /// present controllers and links. Each caller has its own tap.
  /// - Parameter onEvent: called on the daemon's thread, not from inside this call.
  /// - Throws: `GAPError.notSupported`, which says why, if they cannot be seen.
  func tap(_ onEvent: @escaping (TapEvent) -> Void) throws(BluetoothError) -> any PacketTap
}

extension Adapter {
  /// An adapter without a controller over HCI knows none.
  public var silence: ControllerSilence { ControllerSilence() }
  /// An adapter without a controller over HCI has none.
  public func setQuirks(_ keeper: any QuirkKeeper) {}
  /// Only a controller with a resolving list does.
  public func resolves(_ identity: DeviceAddress) -> Bool { false }
  /// Only a controller with address resolution does.
  public func callsPrivately(_ identity: DeviceAddress) -> Bool { false }
  /// Has no effect by default.
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
  /// The controller begins or ceases to watch for the devices in the scan's `watched`. While it watches, present
  /// devices are reported once, at the beginning, and later changes as `presence`. It watches only in the state `.on`.
  case watching(Bool)
  /// A watched device is present again, or was not received within its timeout.
  case presence(DeviceAddress, Bool)
  /// An advertisement or a scan response was received.
  case report(AdvertisingReport)
  /// The controller started or stopped advertising this set, or cannot advertise it.
  case advertising(AdvertisingSetID, AdvertisingStatus)
  /// Devices responded to a subevent in this advertisement's train, or its data could not be sent.
  case responses(AdvertisingSetID, SubeventResponses)
  /// An event of a followed train. Trains are followed only in the state `.on`.
  case periodic(PeriodicTrain, PeriodicEvent)
  /// A link exists; `link.role` shows which side initiated it. Set `link.onEvent` before returning.
  case connected(any Link)
  /// Something happened while the adapter paired with this device.
  case pairing(DeviceAddress, PairingEvent)
  /// A connection attempt failed; another follows after the back-off unless the pending connection is cancelled.
  case connectAttemptFailed(DeviceAddress, BluetoothError)
  /// A device with a pending connection could not be searched for in the last ten seconds, for this reason. The search
  /// resumes as soon as possible, without a further event.
  case connectWaiting(DeviceAddress, BluetoothError)
}

/// A connection to one device, carrying ATT packets (L2CAP channel 0x0004).
public protocol Link: AnyObject {
  /// Unique among all links since the daemon's start.
  var id: LinkID { get }
  /// The other device's address when the link was established.
  var peer: DeviceAddress { get }
  /// Our role on this link: `.central` if we started it.
  var role: LinkRole { get }
  /// True if a packet has to be received on the link before it ends, because of a kernel bug. False by default.
  var mustReceive: Bool { get }
  /// The connection parameters last reported by the controller, if known.
  var parameters: LinkParameters? { get }
  /// The connection's PHYs and packet lengths last reported by the controller.
  var layer: LinkLayer { get }
  /// The attempts needed for the connection; 1 for incoming links.
  var attempts: Int { get }
  /// The link's present protection; it may be better before `securityChanged` reports so.
  var security: LinkSecurity { get }
  /// The largest ATT MTU possible on the link, 23 to 517 octets.
  var maximumMTU: Int { get }
  /// The link's event handler.
  var onEvent: ((LinkEvent) -> Void)? { get set }

  /// True to read packets from the device; initially true. While false, the link holds back incoming packets as far as
  /// it can: none is dropped because of it, and when no room is left they are delivered anyway. The end is reported at
  /// once.
  var isReading: Bool { get set }
  /// False while sent packets wait to be transmitted; `.writable` follows when there is room again. Notifications and
  /// commands should wait for it; responses may be sent regardless.
  var isWritable: Bool { get }
  /// Sends one ATT packet. Packets leave in order and whole. After the link's end it does nothing.
  func send(_ packet: [UInt8])
  /// Ends the link. `.ended` follows.
  func disconnect()
  /// Requests other parameters. If both controllers agree they change, and `parametersChanged` follows; on an incoming
  /// link the central decides. A queued request is replaced by a newer one.
  /// - Parameter done: called once: with nil when the parameters are settled or the request was replaced, else with the
  ///   reason for unchanged parameters; `GAPError.notSupported` if one of the controllers cannot negotiate them, or
  ///   lacks the requested subrating: the other parameters are then those requested.
  func request(_ parameters: ConnectionParameters, _ done: @escaping (BluetoothError?) -> Void)
  /// Sets the parameters wanted by programs on the link, nil for none. If the adapter answers the device's own requests
  /// for parameters, on an outgoing link, it grants the part that agrees with these, or refuses.
  func setWish(_ parameters: ConnectionParameters?)
  /// Requests another PHY in both directions (Core 5.4, Vol 6, Part B, 5.1.10). A queued request is replaced by a newer
  /// one.
  /// - Parameter done: called once: with nil when the link has the PHY or the request was replaced, else with the
  ///   reason for an unchanged PHY; `GAPError.notSupported`, which names the side without the PHY, if one cannot use
  ///   it.
  func request(_ phy: LinkPHY, _ done: @escaping (BluetoothError?) -> Void)
  /// Lets our packets on the link be longer or shorter from now on; the other side decides about its own (Core 5.4, Vol
  /// 6, Part B, 4.5.10). A change comes later, as `parametersChanged`.
  /// - Parameters:
  ///   - octets: the longest payload, 27 to 251.
  ///   - done: called once: with nil when the controller knows it, else with why not, as above.
  func request(longestPacket octets: Int, _ done: @escaping (BluetoothError?) -> Void)
  /// True if this side can open channels in enhanced credit-based flow control mode here.
  var hasEnhancedChannels: Bool { get }
  /// Opens a channel to a listener of the device (Core 5.4, Vol 3, Part A, 4.22).
  /// - Parameters:
  ///   - psm: the listener's number, 1 to 255.
  ///   - parameters: the channel's parameters; the level does not matter here.
  ///   - done: called once, not from inside the call; with `GAPError.connectionFailed` if the device refuses.
  func openChannel(
    to psm: UInt16, _ parameters: ChannelParameters,
    _ done: @escaping (Result<any Channel, BluetoothError>) -> Void)
  /// Raises the link's protection: encrypts it with a bond's keys, or pairs if none suffice. Questions are reported as
  /// `AdapterEvent.pairing`.
  /// - Parameters:
  ///   - level: 2 encrypted, 3 authenticated, 4 the same with LE Secure Connections.
  ///   - capability: the person's capability for a resulting pairing.
  ///   - usesOwnData: true to use the data from `readOutOfBand` in such a pairing; a kernel's adapter always does.
  ///   - replacesBond: true to pair again if the bond's keys do not reach the level; they stay if that fails.
  ///   - done: called once: with nil when the link has the level, else with the error: `GAPError.pairingFailed` if
  ///     pairing failed, or the bond's keys are useless; `GAPError.disconnected` or `.notConnected` if the link ended;
  ///     any other error if it could not be encrypted this time.
  func raiseSecurity(
    to level: Int, as capability: PairingCapability, usesOwnData: Bool, replacesBond: Bool,
    _ done: @escaping (BluetoothError?) -> Void
  )
  /// Encrypts the link with its bond's keys, and begins no pairing. On an incoming link the device is requested to do
  /// it (Core 5.4, Vol 3, Part H, 2.4.6) if that disturbs nothing else on the link; otherwise the call waits for it.
  /// - Parameters:
  ///   - level: the link's level by these keys, 2 to 4.
  ///   - done: called once, as in `raiseSecurity`.
  func encrypt(to level: Int, _ done: @escaping (BluetoothError?) -> Void)
  /// Transfers a train, so that the device can follow it without a scan; if it does is not reported.
  /// - Parameters:
  ///   - train: the train to transfer.
  ///   - serviceData: a value for the device's host.
  ///   - done: called once: with nil when the controller has it, else with the error: `GAPError.notSupported`, which
  ///     names the side without the feature, `BledError.unknownHandle` without such a train at present, or
  ///     `GAPError.notConnected`.
  func transfer(_ train: TransferredTrain, serviceData: UInt16, _ done: @escaping (BluetoothError?) -> Void)
  /// Waits for a train transferred by the device. The adapter follows it from then on, as after `Adapter.setSync`.
  /// - Parameters:
  ///   - parameters: how it is followed.
  ///   - done: called once, not from inside the call: with the train, or why there is none: it could not be followed,
  ///     the link ended, or `stopReceivingTrain` was called. Only one call waits at a time.
  func receiveTrain(
    _ parameters: SyncParameters, _ done: @escaping (Result<ReceivedTrain, BluetoothError>) -> Void)
  /// Ignores transferred trains again.
  func stopReceivingTrain()
  /// Measures the signal strength: −127 to +20 dBm.
  func readRSSI(_ done: @escaping (Result<Int, BluetoothError>) -> Void)
}

/// A link's events.
public enum LinkEvent {
  /// An ATT packet was received.
  case received([UInt8])
  /// This many packets from the device, 1 or more, were dropped on this machine for lack of room. The next event
  /// follows some or all of them.
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

/// A link's number, unique among all adapters since the daemon's start.
public struct LinkID: Hashable, Sendable {
  /// The number.
  public let value: UInt32
  /// Makes an identifier from a number.
  public init(_ value: UInt32) { self.value = value }
}

/// How a link is protected (Core 5.4, Vol 3, Part C, 10.2.1).
public struct LinkSecurity: Hashable, Sendable {
  /// Octets of the key required for level 4.
  public static let longestKey = 16
  /// 1 none, 2 encrypted, 3 encrypted and authenticated, 4 the same with LE Secure Connections and a key of 16 octets.
  public var level: Int
  /// The encryption key size in octets: 7 to 16, 0 without encryption.
  public var keySize: Int
  /// A link without encryption.
  public static let none = LinkSecurity(level: 1, keySize: 0)
  /// Makes a description of protection.
  public init(level: Int, keySize: Int) {
    self.level = level
    self.keySize = keySize
  }
  /// Makes a description of a key's protection.
  /// - Parameters:
  ///   - isAuthenticated: true if its pairing was protected against a person in the middle.
  ///   - isSecureConnections: true if that was LE Secure Connections.
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

  /// Raises the link's protection; a weaker bond is not replaced.
  public func raiseSecurity(
    to level: Int, as capability: PairingCapability, usesOwnData: Bool, _ done: @escaping (BluetoothError?) -> Void
  ) { raiseSecurity(to: level, as: capability, usesOwnData: usesOwnData, replacesBond: false, done) }

  /// Where there are keys, raising the protection begins no pairing.
  public func encrypt(to level: Int, _ done: @escaping (BluetoothError?) -> Void) {
    raiseSecurity(to: level, as: .none, usesOwnData: false, done)
  }
}
