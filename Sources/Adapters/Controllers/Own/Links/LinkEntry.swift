import Adapter
import Bluetooth
import Host

/// A link of `HostLinks`; a class, as each packet looks it up.
final class LinkEntry {
  /// Maximum held packets of the Security Manager; further ones are dropped.
  private static let held = 8

  let peer: DeviceAddress
  let role: LinkRole
  var reassembler = ACLReassembler()
  /// The frames that wait for the link's encryption.
  var encryption = EncryptionHold()
  /// Rings when they have waited too long.
  var encryptionAlarm: (any ScheduledWork)?
  /// Nil before it is announced.
  var link: HostLink?
  /// The packets of the Security Manager that wait for our address; nil once it is known.
  var held: [[UInt8]]?
  /// Rings when they have waited long enough for our address.
  var patience: (any ScheduledWork)?

  init(peer: DeviceAddress, role: LinkRole) {
    self.peer = peer
    self.role = role
  }

  /// Keeps a packet of the Security Manager while our address is unknown.
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
