import Adapter
import Bluetooth
import HCI
import Logging
import Radio

/// The user of a `PrivateAddressHost`.
protocol PrivateAddressHostOwner: AnyObject {
  /// For how long an address is used; nil if it stays.
  var rotation: Duration? { get }
  /// The controller can be used, under this address if it is a private one, which it knows.
  func addressIsMade(_ address: DeviceAddress?, for profile: ControllerProfile)
  /// The kernel made no address for a controller that has none.
  func addressIsMissing()
  /// The kernel accepted bonds, whether devices may pair or not.
  func restoreBonds()
}

/// The private addresses under which one controller of the kernel is seen: runs `PrivateAddressMachine` by the clock,
/// at the start and while the controller's activities pause. Without privacy the kernel is asked once, because of links
/// that come in.
final class PrivateAddressHost: AddressSource {
  /// The kernel's own time, which it counts where commands are legacy, must be over before it makes a new address.
  private static let margin = Duration.seconds(2)
  /// The kernel's own time.
  private static let kernelRotation = Duration.seconds(900)

  weak var owner: (any PrivateAddressHostOwner)?
  let pauses: AddressPauses
  private let management: ManagementInterface
  private let radio: RadioHost
  private let context: AdapterContext
  private var machine = PrivateAddressMachine()
  private var alarm: (any ScheduledWork)?
  /// Rings when the kernel's new address is used: the controller's answers to the kernel are heard before.
  private var adoption: (any ScheduledWork)?
  /// The address that the kernel made last, since the controller came on.
  private var last: DeviceAddress?
  private var isExtended = false
  private var isPrivate = false
  /// The controller that has no radio yet, because it has no address.
  private var waiting: ControllerProfile?

  init(_ management: ManagementInterface, _ radio: RadioHost, in context: AdapterContext) {
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

  /// The controller gets power anew, and another address with that.
  func forget() { last = nil }

  /// The kernel, or another program, sent a command to the controller.
  func heard(_ command: CommandPacket) { machine.heard(command) }

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
