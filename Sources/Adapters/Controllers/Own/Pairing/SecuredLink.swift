import Adapter
import Bluetooth
import HCI
import Host

/// The security of one link: its Security Manager, and the requests and the question that wait.
final class SecuredLink {
  let handle: ConnectionHandle
  /// Our role.
  let role: LinkRole
  let peer: DeviceAddress
  /// The address of the device that its bond names.
  var identity: DeviceAddress
  var manager: SecurityManager
  /// Whether the controller made our address on the link.
  var isLocalMade = false
  /// Rings at the manager's deadline.
  var alarm: (any ScheduledWork)?
  /// Rings when the requests that wait may begin to pair, after pairings with the device have failed.
  var pause: (any ScheduledWork)?
  /// The question that waits for an answer, with its number in the manager.
  var question: (id: QuestionID, number: UInt32)?
  /// The means of a person for the requests that wait.
  private(set) var capability = PairingCapability.none
  /// Whether the data that this machine gave by another way than the air count for them.
  private(set) var usesOwnData = false
  /// The requests for more protection that wait.
  private(set) var requests = SecurityRequests()

  init(
    _ handle: ConnectionHandle, _ role: LinkRole, local: DeviceAddress, _ peer: DeviceAddress, onAir: DeviceAddress,
    identity: DeviceAddress
  ) {
    (self.handle, self.role, self.peer, self.identity) = (handle, role, peer, identity)
    manager = SecurityManager(role: role, local: local, peer: onAir)
  }

  /// A request for a level waits. The means of a person, and the data that count, are those of the first one.
  func wait(
    for level: Int, _ capability: PairingCapability, usesOwnData: Bool, _ done: @escaping (BluetoothError?) -> Void
  ) {
    if requests.isEmpty { (self.capability, self.usesOwnData) = (capability, usesOwnData) }
    requests.wait(for: level, done)
  }

  /// Ends the requests.
  /// - Parameter error: the one for all; nil: those whose level the link has now succeed, and others fail.
  func settle(_ error: BluetoothError? = nil, in context: AdapterContext) {
    requests.settle(at: manager.security.level, error, in: context)
  }
}
