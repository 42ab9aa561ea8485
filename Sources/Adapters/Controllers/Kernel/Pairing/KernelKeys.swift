import Adapter
import Bluetooth
import HCI
import Logging

/// The keys of one controller: loads the keys of the bonds, which their owner above the seam stores, into the kernel,
/// and runs `KeyMachine` on keys that the kernel reports.
final class KernelKeys {
  /// Called with the machine's actions that concern other parts.
  var onAction: ((KeyMachine.Action) -> Void)?
  /// The controller's own address.
  var local = DeviceAddress.none
  /// The owner of the bonds.
  var stored: (any BondSource)?
  private(set) var machine = KeyMachine()
  /// The keys that the kernel gave the controller.
  private var heard = HeardKeys()
  private let management: ManagementInterface
  private let links: KernelLinks
  private let context: AdapterContext

  init(_ management: ManagementInterface, _ links: KernelLinks, in context: AdapterContext) {
    self.management = management
    self.links = links
    self.context = context
  }

  /// The bond with a device: the one made by a pairing on its link, which the kernel uses and the owner receives at the
  /// end of the turn, else the owner's.
  func bond(with peer: DeviceAddress) -> Bond? {
    let identity = machine.identities.identity(of: peer)
    return machine.bondMade(with: identity) ?? stored?.find(local, identity)
  }

  /// The kernel's address of the device on a link.
  func identity(on link: KernelLink) -> DeviceAddress { machine.identities.identity(on: link.handle) ?? link.peer }

  /// True if the kernel has a bond's keys, as far as known.
  func areWithKernel(_ bond: Bond) -> Bool { machine.isKnown(bond) }

  /// The controller has a link of this handle.
  /// - Parameter isHeard: true if its beginning was received.
  func linkIsUp(_ handle: ConnectionHandle, isHeard: Bool) { heard.linkIsUp(handle, isHeard: isHeard) }

  /// The controller no longer has the link with this handle.
  func linkIsDown(_ handle: ConnectionHandle) { heard.linkEnded(handle) }

  /// Events were lost, perhaps commands with keys.
  func eventsLost() { heard.eventsLost(links.handles) }

  /// The controller is closed, and has no links.
  func close() { heard = HeardKeys() }

  func linkBegan(_ link: KernelLink, identity: DeviceAddress) {
    machine.linkBegan(link.handle, link.peer, identity: identity)
  }

  func linkEnded(_ link: KernelLink) { machine.linkEnded(link.handle) }

  /// The kernel gives the controller a key that encrypts a link.
  /// - Returns: the link's handle.
  func observed(_ command: CommandPacket) -> ConnectionHandle? {
    guard let (handle, key) = command.encryption else { return nil }
    heard.observed(key, on: handle)
    return handle
  }

  /// True if a link's key may have been given unnoticed.
  func isDoubtful(_ link: KernelLink) -> Bool { heard.isDoubtful(link.handle) }

  /// True if a link is encrypted with a key that differs from its bond's.
  func isEncryptedOtherwise(_ link: KernelLink) -> Bool {
    guard let bond = bond(with: link.peer) else { return false }
    return heard.isOther(than: bond, on: link.handle, isEncrypted: link.security.level > 1)
  }

  // MARK: - Bonds

  /// The bonds of all adapters, which the kernel loads while the controller is brought into use.
  func load() -> [Bond] {
    let all = stored?.all ?? []
    machine.bondsAreLoaded(all)
    return all
  }

  /// Bonds were added that the kernel does not have.
  /// - Parameter isInUse: true if the controller is in use.
  func bondsAdded(isInUse: Bool) {
    machine.bondsAdded()
    if isInUse { reload() }
  }

  /// Loads all bonds into the kernel if it lacks some, and there is no link. By then it has finished its work for the
  /// end of a link, as it serves commands and events one by one.
  func reload() {
    guard machine.isReloadDue, !links.isAnyUp, let index = management.index else { return }
    for packet in ControllerSettings.keys(for: index, load().filter { $0.local == local }) { management.send(packet) }
  }

  /// The kernel has forgotten the keys of a device.
  func forget(_ identity: DeviceAddress) { machine.forget(identity) }

  /// Forgets the keys of a device.
  /// - Parameter tells: true if the kernel forgets them, too, which ends the link.
  func unpair(_ peer: DeviceAddress, tells: Bool) {
    let identity = machine.identities.identity(of: peer)
    machine.forget(identity)
    if tells { unpair(ManagementAddress(identity)) }
  }

  private func unpair(_ device: ManagementAddress, disconnects: Bool = true) {
    management.send(
      UnpairDevice {
        $0.device = device
        $0.disconnects = disconnects
      })
  }

  /// Makes the kernel forget the keys of a device, with which it would not pair; the link stays.
  func remove(_ identity: DeviceAddress) {
    machine.forget(identity)
    unpair(ManagementAddress(identity), disconnects: false)
  }

  // MARK: - The kernel's events

  /// The kernel answered a command.
  func receive(answer event: ManagementEvent) {
    guard let (opcode, status) = event.answer, status != .success else { return }
    let consequence: String
    switch opcode {
    case LoadLongTermKeys.opcode:
      // Not at once: the kernel would refuse them again. They are loaded when the next link has ended.
      machine.bondsAreRefused()
      consequence = "links with them stay unencrypted"
    case LoadIdentityResolvingKeys.opcode: consequence = "those with private addresses are not recognized"
    default: return
    }
    context.logger.error(
      "the kernel refuses the keys of paired devices, \(consequence): \(status)")
  }

  /// The kernel reported a pairing's key.
  func receive(_ event: ManagementEvent) {
    let (stored, local) = (stored, local)
    for action in machine.receive(event, on: local, stored: { stored?.find(local, $0) }) {
      if case .unpair(let device) = action { unpair(device) } else { onAction?(action) }
    }
  }
}

extension CommandPacket {
  /// The key in a command that encrypts a link, or lets the device encrypt it; nil for any other command.
  fileprivate var encryption: (handle: ConnectionHandle, key: [UInt8])? {
    switch opcode {
    case LEEnableEncryption.opcode:
      (try? LEEnableEncryption(decoding: self)).map { ($0.handle, $0.longTermKey) }
    case LELongTermKeyRequestReply.opcode:
      (try? LELongTermKeyRequestReply(decoding: self)).map { ($0.handle, $0.longTermKey) }
    default: nil
    }
  }
}
