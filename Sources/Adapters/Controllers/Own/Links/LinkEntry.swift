import Adapter
import Bluetooth
import Host

/// One link of `HostLinks`; a class, as it is looked up for each packet.
final class LinkEntry {
  /// As many packets of the Security Manager are held; further ones are dropped.
  private static let held = 8

  let peer: DeviceAddress
  let role: LinkRole
  var reassembler = ACLReassembler()
  /// The frames that wait until the link is encrypted.
  var encryption = EncryptionHold()
  /// Rings when they have waited for too long.
  var encryptionAlarm: (any ScheduledWork)?
  /// Nil before it is announced.
  var link: HostLink?
  /// The packets of the Security Manager that wait until our address is known; nil once it is.
  var held: [[UInt8]]?
  /// Rings when they have waited for our address for long enough.
  var patience: (any ScheduledWork)?

  init(peer: DeviceAddress, role: LinkRole) {
    self.peer = peer
    self.role = role
  }

  /// Keeps a packet of the Security Manager while our address is not known.
  /// - Returns: false if it is known.
  func hold(_ packet: [UInt8]) -> Bool {
    guard let count = held?.count else { return false }
    if count < Self.held { held?.append(packet) }
    return true
  }

  /// Our address is known.
  /// - Returns: the packets that waited.
  func release() -> [[UInt8]] {
    defer { held = nil }
    return held ?? []
  }
}
