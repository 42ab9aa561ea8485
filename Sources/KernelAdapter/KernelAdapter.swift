import Adapter
import Bluetooth
import CBlueZ
import Collections
import EventLoop
import HCI
import Logging

/// A controller of this machine that is driven beside the Linux kernel: power and settings over its management interface, scan,
/// advertising and connecting over the raw HCI socket, ATT over its L2CAP sockets.
///
/// The decisions are made by machines without I/O (`LifecycleMachine`, `SetUpMachine`, `FamilyRadioMachine`); this class owns the
/// sockets and the clock and carries their actions out.
public final class KernelAdapter: Adapter {
  /// Which controller this is; its address and abilities are known once it is on.
  public internal(set) var information: AdapterInformation
  /// Whether the controller works; starts as `.absent`.
  public internal(set) var state = AdapterState.absent
  /// Called on the event loop, after the call in which the event arose.
  public var onEvent: ((AdapterEvent) -> Void)?
  /// Called on the event loop with the kernel's numbers of controllers that are there: all of them when this adapter looks for
  /// its own, and each that comes later. So somebody can make adapters for them too.
  public var onControllers: (([UInt16]) -> Void)?

  let loop: EventLoop
  let scheduler: any Scheduler
  var logger: Logger

  var lifecycle: LifecycleMachine
  var lifecycleAlarm: (any ScheduledWork)?
  var management: PacketSocket?
  /// Where the kernel tells that radios are blocked and unblocked.
  var rfkill: Descriptor?
  var pairing = PairingPolicy()
  var index: ControllerIndex?
  var powerDone: [(BluetoothError?) -> Void] = []

  var wishes = RadioWishes()
  var hci: PacketSocket?
  var setUp: SetUpMachine?
  var radio: (any RadioMachine)?
  var radioAlarm: (any ScheduledWork)?
  var address = DeviceAddress.none
  var questions: [Int: (CommandSlot.Answer) -> Void] = [:]
  var lastQuestion = 0

  var listener: Descriptor?
  /// Rings when the listener is to be asked, later than it said something or although it said nothing.
  var acceptAlarm: (any ScheduledWork)?
  var links: [UInt16: KernelLink] = [:]
  var linkParameters: [UInt16: LinkParameters] = [:]
  /// Parameters that were asked for, by link.
  var parameterWishes: [UInt16: ParameterWish] = [:]
  var attaching: [DeviceAddress: Attachment] = [:]
  /// The links that we started.
  var centralHandles: Set<UInt16> = []
  /// Links whose end was told by one side only: what they end with when the other says nothing in time.
  var ending: [UInt16: (error: BluetoothError, alarm: any ScheduledWork)] = [:]

  var stopping: [() -> Void] = []
  var stopAlarm: (any ScheduledWork)?
  private var outbox: [AdapterEvent] = []
  private var isFlushing = false

  /// Describes an adapter; nothing happens before `start()`. To be made and used on the event loop.
  /// - Parameters:
  ///   - selector: which controller.
  ///   - loop: the loop on which everything happens.
  ///   - scheduler: the clock and the alarms of that loop.
  ///   - logger: where to tell what users need not know.
  public init(selector: AdapterSelector, loop: EventLoop, scheduler: any Scheduler, logger: Logger) {
    self.loop = loop
    self.scheduler = scheduler
    self.logger = logger
    self.logger[metadataKey: "adapter"] = "\(selector)"
    lifecycle = LifecycleMachine(selector: selector, spareAddress: SpareAddress.make(for: selector))
    information = AdapterInformation(id: selector.description, kind: "kernel")
  }

  /// Opens the management interface and brings the controller into use as soon as it is there.
  public func start() {
    rfkill = rfkill ?? Rfkill.watch(loop) { [weak self] in self?.run(lifecycle: .rfkillChanged) }
    run(lifecycle: .start)
  }

  /// Ends scan, advertising and links within a second, leaves the controller as it was found, and calls back. The latter takes
  /// longer where the power has to be put back, which the kernel does in its own time.
  public func stop(_ done: @escaping () -> Void) {
    stopping.append(done)
    guard stopping.count == 1 else { return }
    wishes = RadioWishes()
    guard radio != nil else { return finishStop() }
    run(radio: .quiet)
    for link in links.values { link.disconnect() }
    // Whatever does not answer by then is left behind.
    stopAlarm = scheduler.schedule(after: .seconds(1)) { [weak self] in self?.finishStop() }
  }

  /// Asks the kernel to switch the controller's power.
  public func setPower(_ on: Bool, _ done: @escaping (BluetoothError?) -> Void) {
    powerDone.append(done)
    loop.execute { self.run(lifecycle: .setPower(on)) }
  }

  /// Wants this scan from now on, also after the controller went away and came back; nil for none.
  public func setScan(_ parameters: ScanParameters?) {
    wishes.scan = parameters
    run(radio: .wantScan(parameters))
  }

  /// Wants this advertisement from now on, also after the controller went away and came back; nil for none.
  public func setAdvertising(_ set: AdvertisingSetID, _ parameters: AdvertisingParameters?) {
    wishes.advertising[set] = parameters
    run(radio: .wantAdvertising(set, parameters))
  }

  /// Wants a connection; the device joins the filter accept list of the one initiator until it is there.
  public func connect(to address: DeviceAddress, _ parameters: ConnectionParameters) {
    wishes.connects[address] = parameters
    run(radio: .connect(address, parameters))
  }

  /// Takes the wish back; a link that came up meanwhile is dropped unannounced.
  public func cancelConnect(to address: DeviceAddress) {
    wishes.connects[address] = nil
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

  /// Tells an event, after the call in which it arose.
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
