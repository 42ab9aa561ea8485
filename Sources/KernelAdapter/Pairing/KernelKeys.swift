import Adapter
import Bluetooth
import HCI
import Logging

/// The bonds as one controller's kernel knows them, and the identities of the devices on its links (`KeyMachine`).
final class KernelKeys {
  /// Executes the actions of the machine that concern others.
  var onAction: ((KeyMachine.Action) -> Void)?
  private let management: ManagementInterface
  private let links: KernelLinks
  private let context: AdapterContext
  private var machine = KeyMachine()

  init(_ management: ManagementInterface, _ links: KernelLinks, in context: AdapterContext) {
    self.management = management
    self.links = links
    self.context = context
  }

  /// The controller's own address.
  var local: DeviceAddress {
    get { machine.local }
    set { machine.local = newValue }
  }

  /// The bonds of all adapters.
  var bonds: [Bond] { machine.bonds }

  /// The bond with a device on this adapter.
  func bond(with peer: DeviceAddress) -> Bond? { machine.bond(with: peer) }

  /// The address by which the kernel knows the device on a link.
  func identity(on link: KernelLink) -> DeviceAddress { machine.identity(on: link.handle) ?? link.peer }

  /// The address by which users know a device that the kernel names.
  func known(_ identity: DeviceAddress) -> DeviceAddress { machine.known(identity) }

  /// The link to the device that the kernel knows by this address.
  func handle(of identity: DeviceAddress) -> ConnectionHandle? { machine.handle(of: identity) }

  /// Whether keys of the device on this link are kept.
  func keepsKeys(on handle: ConnectionHandle) -> Bool { machine.keepsKeys(on: handle) }

  func linkBegan(_ link: KernelLink, identity: DeviceAddress) {
    machine.linkBegan(link.handle, link.peer, identity: identity)
  }

  func linkEnded(_ link: KernelLink) { machine.linkEnded(link.handle) }

  /// Other bonds are kept from outside. The kernel is told of them when the controller is brought into use, and of
  /// those that are new to it as soon as there is no link.
  /// - Parameter isInUse: whether the controller is in use, so that the kernel was told of the earlier ones.
  func setBonds(_ bonds: [Bond], isInUse: Bool) {
    machine.setBonds(bonds, isRunning: isInUse)
    if isInUse { loadNew() }
  }

  /// Tells the kernel of new bonds, if there is no link. Its work for the end of a link is done by then, as it serves
  /// commands and events one by one.
  func loadNew() {
    guard !links.isAnyUp, let index = management.index, let bonds = machine.takeNewBonds() else { return }
    for packet in ControllerSettings.keys(for: index, bonds) { management.send(packet) }
  }

  /// The kernel answered a command.
  func take(answer event: ManagementEvent) {
    guard let (opcode, status) = event.answer, status != .success,
      [LoadLongTermKeys.opcode, LoadIdentityResolvingKeys.opcode].contains(opcode)
    else { return }
    context.logger.error(
      "the kernel refuses the keys of paired devices: links with them stay unencrypted",
      metadata: ["status": "\(status)"])
  }

  /// The kernel tells a key of a pairing.
  func take(_ event: ManagementEvent) {
    for action in machine.take(event) {
      if case .unpair(let device) = action { unpair(device) } else { onAction?(action) }
    }
  }

  /// The kernel has forgotten the keys of a device.
  func forget(_ identity: DeviceAddress) { machine.forget(identity) }

  /// Forgets the keys of a device.
  /// - Parameter tells: whether the kernel is told, too, which ends the link.
  func unpair(_ peer: DeviceAddress, tells: Bool) {
    let identity = machine.identity(of: peer)
    machine.forget(identity)
    if tells { unpair(ManagementAddress(identity)) }
  }

  /// Ends a pairing with a device that has no bond; the link stays.
  func abortPairing(on link: KernelLink) {
    management.send(UnpairDevice { $0.device = ManagementAddress(identity(on: link)) })
  }

  private func unpair(_ device: ManagementAddress) {
    management.send(
      UnpairDevice {
        $0.device = device
        $0.disconnects = true
      })
  }
}
