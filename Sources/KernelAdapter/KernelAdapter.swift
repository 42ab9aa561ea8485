import Adapter
import Bluetooth
import EventLoop
import HCI
import Logging
import Radio

/// A controller of this machine that is used alongside the Linux kernel: power and settings over its management
/// interface, scan, advertising and connecting over the raw HCI socket, ATT over its L2CAP sockets.
///
/// The decisions are made by machines without I/O (`LifecycleMachine`, `SetUpMachine`, `RadioMachine`); this
/// class owns the sockets and the clock and carries their actions out.
public final class KernelAdapter: Adapter {
  /// The adapter's identity; its address and capabilities are known once it is on.
  public internal(set) var information: AdapterInformation
  /// Whether the controller works; starts as `.absent`.
  public internal(set) var state = AdapterState.absent
  /// Called on the event loop, after the call in which the event arose.
  public var onEvent: ((AdapterEvent) -> Void)?
  /// Called on the event loop with the kernel's numbers of controllers that are there: all of them when this adapter
  /// looks for its own, and each that appears later. So adapters can be made for them too.
  public var onControllers: (([UInt16]) -> Void)?

  let kernel: any KernelSockets
  let loop: EventLoop
  let scheduler: any Scheduler
  var logger: Logger

  var lifecycle: LifecycleMachine
  var unconfigured: UnconfiguredMachine
  var lifecycleAlarm: (any ScheduledWork)?
  var management: PacketSocket?
  /// Where the kernel tells that radios are blocked and unblocked.
  var rfkill: Descriptor?
  /// Whether the controller was chosen by name.
  private let isNamed: Bool
  var index: ControllerIndex?
  var powerDone: [(BluetoothError?) -> Void] = []

  var targets = RadioTargets()
  var hci: ControllerSockets?
  var setUp: SetUpMachine?
  var radio: (any RadioMachine)?
  var radioAlarm: (any ScheduledWork)?
  /// Rings when the kernel is to be asked for its links, after events were lost.
  var doubtAlarm: (any ScheduledWork)?
  /// Rings when the controller has had its time to become quiet before the system sleeps.
  var suspendAlarm: (any ScheduledWork)?
  /// Whether an active scan was run since the controller came on, by a radio that is closed.
  var scannedActively = false
  /// Whether the HCI socket hears what a scan receives: the kernel need not tell it a second time on mgmt.
  var hearsReports = false {
    didSet {
      guard hearsReports != oldValue, let management else { return }
      kernel.ignoreDeviceFound(hearsReports, on: management.descriptor)
    }
  }
  /// The address that the controller keeps.
  var address: DeviceAddress { keys.local }
  /// The private addresses under which the controller is seen.
  var addresses = PrivateAddresses()
  /// Rings when `addresses` is due.
  var addressAlarm: (any ScheduledWork)?
  /// The features that turned out not to work in this controller.
  var faults: ControllerFaults = []
  var questions: [Int: (CommandSlot.Answer) -> Void] = [:]
  var lastQuestion = 0

  var listener: Descriptor?
  /// Rings when links are to be accepted: some time after the listener became ready, or although it did not.
  var acceptAlarm: (any ScheduledWork)?
  var links: [UInt16: KernelLink] = [:]
  let channelListeners: ChannelListeners
  /// How many octets one ACL data packet carries; nil if the controller did not say.
  var fragmentLength: Int?
  /// The controller's features on links.
  var features: LEFeatures = []
  /// The facts about the controller's links, and the requests for them.
  var records: [UInt16: LinkRecord] = [:]
  var lastRequest = 0
  var attaching: [DeviceAddress: Attachment] = [:]
  /// Our role on the links that the controller has.
  var roles: [UInt16: LinkRole] = [:]
  /// The links that devices initiated and that the kernel has not offered yet.
  var expectedOffers = ExpectedOffers()
  /// Rings when `expectedOffers` is due.
  var offerAlarm: (any ScheduledWork)?
  /// Links whose protection is being raised.
  var raises: [UInt16: SecurityRaise] = [:]
  /// The kernel's open questions, by the address of the device.
  var pairingQuestions: [DeviceAddress: PendingQuestion] = [:]
  /// The bonds, and the identities of the devices on links.
  var keys = KeyMachine()
  /// The data of devices that came by another way than the air.
  var outOfBandData: [DeviceAddress: OutOfBandData] = [:]
  /// The calls that wait for such data of ours.
  var outOfBandReads: [(Result<OutOfBandData, BluetoothError>) -> Void] = []
  /// The kernel's events of pairings while links wait to be announced.
  var heldPairing: [ManagementEvent] = []
  /// Links whose end was reported by one source only: the error they end with when the other stays silent.
  var ending: [UInt16: (error: BluetoothError, alarm: any ScheduledWork)] = [:]

  var stopping: [() -> Void] = []
  var stopAlarm: (any ScheduledWork)?
  private var outbox: [AdapterEvent] = []
  private var isFlushing = false

  /// Describes an adapter; nothing happens before `start()`. Create and use it on the event loop.
  /// - Parameters:
  ///   - selector: which controller.
  ///   - isNamed: whether somebody chose just this one: then it is used beside bluetoothd, which has another.
  ///   - publicAddress: the address that the controller gets if the kernel does not use it for lack of one.
  ///   - loop: the loop on which everything happens.
  ///   - scheduler: the clock and the alarms of that loop.
  ///   - logger: for details that users need not know.
  public convenience init(
    selector: AdapterSelector, isNamed: Bool = false, publicAddress: DeviceAddress? = nil, loop: EventLoop,
    scheduler: any Scheduler, logger: Logger
  ) {
    self.init(
      selector: selector, isNamed: isNamed, publicAddress: publicAddress, kernel: LinuxSockets(loop: loop), loop: loop,
      scheduler: scheduler, logger: logger)
  }

  /// The same with other sockets.
  init(
    selector: AdapterSelector, isNamed: Bool = false, publicAddress: DeviceAddress? = nil, kernel: any KernelSockets,
    loop: EventLoop, scheduler: any Scheduler, logger: Logger
  ) {
    self.isNamed = isNamed
    self.kernel = kernel
    self.loop = loop
    self.scheduler = scheduler
    self.logger = logger
    self.logger[metadataKey: "adapter"] = "\(selector)"
    lifecycle = LifecycleMachine(selector: selector, spareAddress: SpareAddress.make(for: selector))
    unconfigured = UnconfiguredMachine(selector: selector, publicAddress: publicAddress)
    information = AdapterInformation(id: selector.description, kind: "kernel")
    channelListeners = ChannelListeners(kernel.channels, scheduler: scheduler)
    channelListeners.onChannel = { [weak self] psm, channel, handle in self?.accepted(psm, channel, handle) }
    channelListeners.onWarning = { [weak self] text, psm, errno in
      self?.logger.warning("\(text)", metadata: ["psm": "\(psm)", "errno": "\(errno)"])
    }
  }

  /// Whether the controller is ours though bluetoothd runs: it takes every controller, but does nothing with one that
  /// nobody asks it to use.
  var isReserved: Bool { isNamed && Controllers.present().count > 1 }

  /// Opens the management interface and brings the controller into use as soon as it is there.
  public func start() {
    rfkill = rfkill ?? Rfkill.watch(loop) { [weak self] in self?.run(lifecycle: .rfkillChanged) }
    run(lifecycle: .start)
  }

  /// Ends scan, advertising and links within two seconds, restores the controller's earlier settings, and calls back.
  /// Restoring takes longer where the power has to be put back, which the kernel does in its own time.
  public func stop(_ done: @escaping () -> Void) {
    stopping.append(done)
    guard stopping.count == 1 else { return }
    targets = RadioTargets()
    guard radio != nil else { return finishStop() }
    closeAddresses()
    run(radio: .quiet)
    for link in links.values { link.disconnect() }
    // Whatever does not answer by then is left behind.
    stopAlarm = scheduler.schedule(after: Departure.patience + .seconds(1)) { [weak self] in self?.finishStop() }
  }

  /// Asks the kernel to switch the controller's power.
  public func setPower(_ on: Bool, _ done: @escaping (BluetoothError?) -> Void) {
    powerDone.append(done)
    loop.execute { self.run(lifecycle: .setPower(on)) }
  }

  /// Sets the wanted scan, which is resumed after the controller was away; nil for none.
  public func setScan(_ parameters: ScanParameters?) {
    targets.scan = parameters
    run(radio: .wantScan(parameters))
  }

  /// Sets a wanted advertisement, which is resumed after the controller was away; nil for none.
  public func setAdvertising(_ set: AdvertisingSetID, _ parameters: AdvertisingParameters?) {
    targets.advertising[set] = parameters
    run(radio: .wantAdvertising(set, parameters))
  }

  /// Sets a train to be followed, which is resumed after the controller was away, or withdraws it.
  public func setSync(_ train: PeriodicTrain, _ parameters: SyncParameters?) {
    targets.syncs[train] = parameters
    run(radio: .wantSync(train, parameters))
  }

  /// Adds a pending connection; the device is in the filter accept list of the one initiator until it is established.
  public func connect(to address: DeviceAddress, _ parameters: ConnectionParameters) {
    targets.connects[address] = parameters
    run(radio: .connect(address, parameters))
  }

  /// Cancels the pending connection; a link that came up in the meantime is dropped unannounced.
  public func cancelConnect(to address: DeviceAddress) {
    targets.connects[address] = nil
    abandonAttachment(to: address)
    run(radio: .cancelConnect(address))
    // A link that is there but was not announced yet must not be announced any more.
    outbox.removeAll { event in
      guard case .connected(let link) = event, link.peer == address, link.role == .central else { return false }
      loop.execute { link.disconnect() }
      return true
    }
  }

  // MARK: - Telling

  /// Reports an event, after the call in which it arose.
  func emit(_ event: AdapterEvent) {
    outbox.append(event)
    guard !isFlushing else { return }
    isFlushing = true
    loop.execute { self.flush() }
  }

  /// Reports an event that no call caused, at once unless others wait.
  func emitAtOnce(_ event: AdapterEvent) {
    guard outbox.isEmpty, !isFlushing else { return emit(event) }
    onEvent?(event)
  }

  private func flush() {
    while !outbox.isEmpty { onEvent?(outbox.removeFirst()) }
    isFlushing = false
  }

  func setState(_ new: AdapterState) {
    guard new != state else { return }
    state = new
    emit(.stateChanged)
  }
}
