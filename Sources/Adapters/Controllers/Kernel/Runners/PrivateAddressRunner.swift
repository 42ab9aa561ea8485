import Adapter
import Bluetooth
import HCI
import Logging
import Radio

/// The user of a `PrivateAddressRunner`.
protocol PrivateAddressRunnerOwner: AnyObject {
  /// Lifetime of an address; nil if it is permanent.
  var rotation: Duration? { get }
  /// The controller can be used: its private address, if any, is set.
  func addressIsMade(_ address: DeviceAddress?, for profile: ControllerProfile)
  /// The kernel made no address for a controller without one.
  func addressIsMissing()
  /// Restores the setting for bonds: the kernel has accepted them even where devices may not pair.
  func restoreBonds()
}

/// The private addresses of one kernel controller: runs `PrivateAddressMachine` by the clock, at the start and while
/// the controller's activities pause. Without privacy the kernel is asked once, for incoming links.
final class PrivateAddressRunner: AddressSource {
  /// Added to an address's lifetime: where commands are legacy, the kernel makes a new address only after its own
  /// lifetime has passed.
  private static let margin = Duration.seconds(2)
  /// The kernel's own time.
  private static let kernelRotation = Duration.seconds(900)

  weak var owner: (any PrivateAddressRunnerOwner)?
  let pauses: AddressPauses
  private let management: ManagementInterface
  private let radio: RadioRunner
  private let context: AdapterContext
  private var machine = PrivateAddressMachine()
  private var alarm: (any ScheduledWork)?
  /// Rings when the kernel's new address is used: the controller's answers to the kernel are received first.
  private var adoption: (any ScheduledWork)?
  /// The kernel's last address since the controller was switched on.
  private var last: DeviceAddress?
  private var isExtended = false
  private var isPrivate = false
  /// The controller without a radio yet, for lack of an address.
  private var waiting: ControllerProfile?

  init(_ management: ManagementInterface, _ radio: RadioRunner, in context: AdapterContext) {
    self.management = management
    self.radio = radio
    self.context = context
    pauses = AddressPauses(of: radio.activities, in: context)
    pauses.source = self
  }

  /// A controller was set up: it has no radio before the kernel knows its address.
  func begin(_ profile: ControllerProfile, isPrivate: Bool) {
    self.isPrivate = isPrivate
    isExtended = profile.advertisesExtended
    guard isPrivate || isExtended else { return owner?.addressIsMade(nil, for: profile) ?? () }
    waiting = profile
    changeAddress()
  }

  /// The radio is closed. The last address is remembered for a controller that sleeps.
  func close() {
    let actions = machine.closing
    run { (machine, _) in
      machine = PrivateAddressMachine()
      return actions
    }
    adoption?.cancel()
    adoption = nil
    waiting = nil
    pauses.close()
  }

  /// The controller was power-cycled, so it gets another address.
  func forget() { last = nil }

  /// The kernel, or another program, sent a command to the controller.
  func observed(_ command: CommandPacket) { machine.observed(command) }

  /// The kernel answered a command.
  func receive(answer event: ManagementEvent) {
    guard let (opcode, _) = event.answer else { return }
    run { (machine, _) in machine.answered(opcode) }
  }

  func changeAddress() { run { [isExtended] in $0.begin(isExtended: isExtended, at: $1) } }

  func resumes(under address: DeviceAddress) { radio.activities.run(.command(Self.setAddress(address))) }

  private func run(_ step: (inout PrivateAddressMachine, Instant) -> [PrivateAddressMachine.Action]) {
    for action in step(&machine, context.scheduler.now) { perform(action) }
    context.arm(&alarm, at: machine.deadline) { [weak self] _ in self?.run { $0.tick(at: $1) } }
  }

  private func perform(_ action: PrivateAddressMachine.Action) {
    switch action {
    case .send(.prepareAdvertisement):
      management.send(AddExtendedAdvertisingParameters { $0.instance = PrivateAddressMachine.advertisement })
    case .send(.prepareDiscoverableAdvertisement):
      management.send(
        AddExtendedAdvertisingParameters {
          $0.instance = PrivateAddressMachine.advertisement
          $0.flags = .discoverable
        })
    case .send(.allowBonds): management.send(SetBondable(value: 1))
    case .send(.restoreBonds): owner?.restoreBonds()
    case .send(.removeAdvertisement): management.send(RemoveAdvertising(value: PrivateAddressMachine.advertisement))
    case .send(.startDiscovery): management.send(StartDiscovery())
    case .send(.stopDiscovery): management.send(StopDiscovery())
    case .done(let address):
      adoption?.cancel()
      adoption = context.scheduler.schedule(after: .zero) { [weak self] in self?.adopt(address) }
    }
  }

  /// The kernel made this address; nil for none.
  private func adopt(_ address: DeviceAddress?) {
    let profile = waiting
    waiting = nil
    guard isPrivate else {
      if let profile { owner?.addressIsMade(nil, for: profile) }
      return
    }
    if let address {
      context.logger.debug("the adapter is seen under another address", metadata: ["address": "\(address)"])
    } else {
      context.logger.warning("the kernel made no new private address; retrying in a minute")
    }
    last = address ?? last
    let kernels: Duration = isExtended ? .zero : Self.kernelRotation
    let time = (owner?.rotation).map { address == nil ? AddressChanges.retry : max($0, kernels) + Self.margin }
    guard let profile else { return pauses.changed(to: address, for: time) }
    guard let last else { return owner?.addressIsMissing() ?? () }
    pauses.begin(last, for: time)
    radio.send(Self.setAddress(last))
    owner?.addressIsMade(last, for: profile)
  }

  private static func setAddress(_ address: DeviceAddress) -> CommandPacket {
    CommandPacket(LESetRandomAddress { $0.address = address.value })
  }
}
