import Adapter
import Bluetooth
import HCI
import Logging

extension KernelAdapter {
  /// The bonds that the kernel is told of when the controller is brought into use. It is also told of those that are
  /// new to it, as soon as there is no link. Its work for the end of a link is done by then, as it serves commands and
  /// events one by one.
  public func setBonds(_ bonds: [Bond]) {
    keys.setBonds(bonds, isRunning: radio != nil)
    loadNewBonds()
  }

  /// A link has ended, or bonds have come.
  func loadNewBonds() {
    guard roles.isEmpty, let index, radio != nil, let bonds = keys.takeNewBonds() else { return }
    for packet in ControllerSettings.keys(for: index, bonds) { send(packet) }
  }

  /// The kernel answers a command that loads keys.
  func take(keysAnswer event: ManagementEvent) {
    let (opcode, status): (UInt16, ManagementStatus)
    switch event {
    case .commandComplete(let complete): (opcode, status) = (complete.opcode, complete.status)
    case .commandStatus(let answer): (opcode, status) = (answer.opcode, answer.status)
    default: return
    }
    guard [LoadLongTermKeys.opcode, LoadIdentityResolvingKeys.opcode].contains(opcode), status != .success else {
      return
    }
    logger.error(
      "the kernel refuses the keys of paired devices: links with them stay unencrypted",
      metadata: ["status": "\(status)"])
  }

  /// The kernel tells a key of a pairing.
  func take(key event: ManagementEvent) {
    for action in keys.take(event) { perform(action) }
  }

  private func perform(_ action: KeyMachine.Action) {
    switch action {
    case .tell(let peer, let event): emit(.pairing(peer, event))
    case .failed(let device, let status): failed(device, status)
    case .disconnect(let handle): links[handle]?.disconnect()
    case .unpair(let device): unpair(device)
    case .warn(let text, let peer): logger.warning("\(text)", metadata: ["peer": "\(peer)"])
    }
  }

  /// The address by which the kernel knows the device on a link.
  func identity(on link: KernelLink) -> DeviceAddress { keys.identity(on: link.handle) ?? link.peer }

  /// Has the kernel forget the keys of a device. What it knows of a controller that is off is replaced before use.
  public func unpair(_ address: DeviceAddress) {
    let identity = keys.identity(of: address)
    keys.forget(identity)
    guard state == .on || state == .suspended || state == .starting else { return }
    unpair(ManagementAddress(identity))
  }

  private func unpair(_ device: ManagementAddress) {
    guard let index else { return }
    let packet = UnpairDevice {
      $0.device = device
      $0.disconnects = true
    }
    send(ManagementPacket(packet, index: index))
  }
}
