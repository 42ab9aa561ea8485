import Adapter
import Bluetooth
import CBlueZ
import Collections
import EventLoop
import HCI
import Logging

/// A controller of this machine that is used alongside the Linux kernel: power and settings over its management
/// interface, scan, advertising and connecting over the raw HCI socket, ATT over its L2CAP sockets.
///
/// The decisions are made by machines without I/O (`LifecycleMachine`, `SetUpMachine`, `FamilyRadioMachine`); this
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

  let loop: EventLoop
  let scheduler: any Scheduler
  var logger: Logger

  var lifecycle: LifecycleMachine
  var lifecycleAlarm: (any ScheduledWork)?
  var management: PacketSocket?
  /// Where the kernel tells that radios are blocked and unblocked.
  var rfkill: Descriptor?
  let pairing: PairingPolicy
  /// Whether the controller was chosen by name.
  private let isNamed: Bool
  var index: ControllerIndex?
  var powerDone: [(BluetoothError?) -> Void] = []

  var targets = RadioTargets()
  var hci: PacketSocket?
  var setUp: SetUpMachine?
  var radio: (any RadioMachine)?
  var radioAlarm: (any ScheduledWork)?
  var address = DeviceAddress.none
  var questions: [Int: (CommandSlot.Answer) -> Void] = [:]
  var lastQuestion = 0

  var listener: Descriptor?
  /// Rings when links are to be accepted: some time after the listener became ready, or although it did not.
  var acceptAlarm: (any ScheduledWork)?
  var links: [UInt16: KernelLink] = [:]
  /// How many octets one ACL data packet carries; nil if the controller did not say.
  var fragmentLength: Int?
  var linkParameters: [UInt16: LinkParameters] = [:]
  /// The pending parameter requests, by link.
  var parameterRequests: [UInt16: ParameterRequest] = [:]
  var attaching: [DeviceAddress: Attachment] = [:]
  /// The links that we initiated.
  var centralHandles: Set<UInt16> = []
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
  ///   - acceptsJustWorks: whether devices that ask for it may pair without any check; otherwise none can pair.
  ///   - loop: the loop on which everything happens.
  ///   - scheduler: the clock and the alarms of that loop.
  ///   - logger: for details that users need not know.
  public init(
    selector: AdapterSelector, isNamed: Bool = false, acceptsJustWorks: Bool = false, loop: EventLoop,
    scheduler: any Scheduler, logger: Logger
  ) {
    self.isNamed = isNamed
    pairing = PairingPolicy(acceptsJustWorks: acceptsJustWorks)
    self.loop = loop
    self.scheduler = scheduler
    self.logger = logger
    self.logger[metadataKey: "adapter"] = "\(selector)"
    lifecycle = LifecycleMachine(
      selector: selector, spareAddress: SpareAddress.make(for: selector), acceptsPairing: acceptsJustWorks)
    information = AdapterInformation(id: selector.description, kind: "kernel")
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

  /// Has the kernel forget the keys of a device; without power there are none.
  public func unpair(_ address: DeviceAddress) {
    guard let index, state == .on else { return }
    send(ManagementPacket(UnpairDevice { $0.device = ManagementAddress(address) }, index: index))
  }

  // MARK: - Telling

  /// Reports an event, after the call in which it arose.
  func emit(_ event: AdapterEvent) {
    outbox.append(event)
    guard !isFlushing else { return }
    isFlushing = true
    loop.execute { self.flush() }
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
