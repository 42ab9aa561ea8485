import Adapter
import Bluetooth
import HCI
import Host

/// The security of one link: its Security Manager, and the pending requests and question.
final class SecuredLink {
  let handle: ConnectionHandle
  /// Our role.
  let role: LinkRole
  let peer: DeviceAddress
  /// The address of the device that its bond names.
  var identity: DeviceAddress
  var manager: SecurityManager
  /// True if the controller made our address on the link.
  var isLocalMade = false
  /// Rings at the manager's deadline.
  var alarm: (any ScheduledWork)?
  /// Rings when the pending requests may begin to pair, after failed pairings with the device.
  var pause: (any ScheduledWork)?
  /// The pending question, with its number in the manager.
  var question: (id: QuestionID, number: UInt32)?
  /// True if the pairing has asked or shown something.
  var hasAsked = false
  /// The input and output capability for the pending requests.
  private(set) var capability = PairingCapability.none
  /// True if our out-of-band data count for them.
  private(set) var usesOwnData = false
  /// True if they replace a bond that is too weak for them.
  private(set) var replacesBond = false
  /// The pending requests for more protection.
  private(set) var requests = SecurityRequests()

  init(
    _ handle: ConnectionHandle, _ role: LinkRole, local: DeviceAddress, _ peer: DeviceAddress, onAir: DeviceAddress,
    identity: DeviceAddress
  ) {
    (self.handle, self.role, self.peer, self.identity) = (handle, role, peer, identity)
    manager = SecurityManager(role: role, local: local, peer: onAir)
  }

  /// Adds a pending request for a level. The first one that may pair decides the capability and the data that count.
  func wait(
    for level: Int, _ capability: PairingCapability, usesOwnData: Bool, replacesBond: Bool,
    _ done: @escaping (BluetoothError?) -> Void
  ) {
    if requests.isEmpty { self.replacesBond = false }
    if requests.isEmpty || replacesBond && !self.replacesBond {
      (self.capability, self.usesOwnData) = (capability, usesOwnData)
      self.replacesBond = replacesBond
    }
    requests.wait(for: level, done)
  }

  /// Ends the requests with a level that the link has.
  /// - Returns: true if others are to replace the bond, whose keys encrypt the link.
  func settleReached(in context: AdapterContext) -> Bool {
    guard replacesBond, role == .central, requests.wantsMore(than: manager.security.level) else { return false }
    requests.settleReached(at: manager.security.level, in: context)
    return true
  }

  /// Ends the requests.
  /// - Parameter error: the error of all; nil if those with a level that the link has now succeed, and others fail.
  func settle(_ error: BluetoothError? = nil, in context: AdapterContext) {
    requests.settle(at: manager.security.level, error, in: context)
  }
}
