import Bluetooth

/// Replaces by zeros the keys of links, and the values they can be computed from: recordings are passed on. Lengths
/// stay.
///
/// | Packet                                          | Replaced part                                        |
/// |-------------------------------------------------|------------------------------------------------------|
/// | HCI commands that carry keys, PINs or passkeys  | the parameters behind the handle or the address      |
/// | HCI events that carry keys                      | the same                                             |
/// | Pairing Confirm, Pairing Random, keys of the Security Manager | all behind the code                    |
/// | a piece of such a packet, or of one that was not seen whole   | all                                    |
/// | calls and events of mgmt with keys              | the parameters                                       |
///
/// With Pairing Random the keys of LE legacy pairing and a passkey can be computed from the other packets, and it from
/// Pairing Confirm, as the temporary key is 0 or a passkey. The contents of vendors' commands are not known: it stays.
public struct KeyBlanking: Sendable {
  /// Displayable octets of a packet still to follow, by link and direction. Any other packet's piece is not shown: its
  /// beginning may be missing.
  private var shown: [UInt32: Int] = [:]

  /// Begins with no packet seen.
  public init() {}

  /// The packet without keys.
  public mutating func blank(_ packet: MonitorPacket) -> MonitorPacket {
    guard let kept = kept(of: packet), kept < packet.octets.count else { return packet }
    var packet = packet
    for index in kept..<packet.octets.count { packet.octets[index] = 0 }
    return packet
  }

  /// The displayable octets at the beginning; nil: all.
  private mutating func kept(of packet: MonitorPacket) -> Int? {
    let octets = packet.octets[...]
    switch packet.kind {
    case .command: return octets.little16(at: 0).flatMap { Self.commands[$0] }.map { 3 + $0 }
    case .event: return Self.kept(ofEvent: octets)
    case .sentACL, .receivedACL: return kept(ofData: packet, isSent: packet.kind == .sentACL)
    case .controlCommand: return octets.little16(at: 4).flatMap { Self.managementCommands.contains($0) ? 6 : nil }
    case .controlEvent: return Self.kept(ofManagementEvent: octets)
    default: return nil
    }
  }

  // MARK: HCI (Core 5.4, Vol 4, Part E)

  /// The displayable octets of the parameters, by opcode.
  private static let commands: [UInt16: Int] = [
    // Link Key, PIN Code and User Passkey Request Reply, Remote OOB (Extended) Data Request Reply: behind the address.
    0x040B: 6, 0x040D: 6, 0x042E: 6, 0x0430: 6, 0x0445: 6,
    // Write Stored Link Key.
    0x0C11: 1,
    // LE Encrypt, LE Generate DHKey in both versions.
    0x2017: 0, 0x2026: 0, 0x205E: 0,
    // LE Enable Encryption and LE Long Term Key Request Reply: behind the handle.
    0x2019: 2, 0x201A: 2,
    // LE Add Device To Resolving List: behind the address and its type.
    0x2027: 7,
    // LE Create BIG, its test, LE BIG Create Sync: before the Broadcast_Code.
    0x2068: 15, 0x2069: 20, 0x206B: 4,
  ]

  /// Commands with keys as results: Read Stored Link Key, Read Local OOB (Extended) Data, LE Encrypt, LE Rand.
  private static let results: Set<UInt16> = [0x0C0D, 0x0C57, 0x0C7D, 0x2017, 0x2018]

  private static func kept(ofEvent octets: ArraySlice<UInt8>) -> Int? {
    switch octets.first {
    // Command Complete: behind the opcode and the status.
    case 0x0E: octets.little16(at: 3).flatMap { results.contains($0) ? 6 : nil }
    // Link Key Notification and User Passkey Notification: behind the address. Return Link Keys.
    case 0x18, 0x3B: 8
    case 0x15: 3
    // LE Generate DHKey Complete: behind the status.
    case 0x3E: octets.count > 2 && octets[octets.startIndex + 2] == 0x09 ? 4 : nil
    default: nil
    }
  }

  // MARK: The Security Manager (Core 5.4, Vol 3, Part H, 3)

  /// Its channels on LE and on BR/EDR.
  private static let securityManagers: Set<UInt16> = [0x0006, 0x0007]
  /// Pairing Confirm, Pairing Random, Encryption Information, Central Identification, Identity Information, Signing
  /// Information.
  private static let secretCodes: Set<UInt8> = [0x03, 0x04, 0x06, 0x07, 0x08, 0x0A]
  /// The headers of data and L2CAP, and the code.
  private static let codeEnd = 9

  private mutating func kept(ofData packet: MonitorPacket, isSent: Bool) -> Int? {
    let octets = packet.octets[...]
    guard let header = octets.little16(at: 0) else { return nil }
    let link = UInt32(header & 0x0FFF) << 1 | (isSent ? 1 : 0)
    // A packet's further piece.
    if header >> 12 & 3 == 1 {
      guard let rest = shown[link], packet.length - 4 <= rest else {
        shown[link] = nil
        return 4
      }
      shown[link] = rest - (packet.length - 4)
      return nil
    }
    shown[link] = nil
    // A packet cut before its kind is known may hide something.
    guard octets.count >= Self.codeEnd else { return octets.count }
    guard Self.securityManagers.contains(octets.little16(at: 6) ?? 0),
      Self.secretCodes.contains(octets[octets.startIndex + 8])
    else {
      shown[link] = Int(octets.little16(at: 4) ?? 0) + 8 - packet.length
      return nil
    }
    return Self.codeEnd
  }

  // MARK: mgmt (mgmt-api)

  /// Load Link Keys, Load Long Term Keys, PIN Code Reply, User Passkey Reply, Add Remote Out Of Band Data, Set Privacy,
  /// Load Identity Resolving Keys, Set Blocked Keys, HCI Command Sync, which may carry any of HCI's.
  private static let managementCommands: Set<UInt16> = [
    0x0012, 0x0013, 0x0016, 0x001E, 0x0021, 0x002F, 0x0030, 0x0046, 0x005B,
  ]
  /// New Link Key, New Long Term Key, Passkey Notify, New Identity Resolving Key, New Signature Resolving Key.
  private static let managementEvents: Set<UInt16> = [0x0009, 0x000A, 0x0017, 0x0018, 0x0019]
  /// Commands with keys as results: Read Local Out Of Band (Extended) Data, HCI Command Sync.
  private static let managementResults: Set<UInt16> = [0x0020, 0x003B, 0x005B]

  private static func kept(ofManagementEvent octets: ArraySlice<UInt8>) -> Int? {
    guard let event = octets.little16(at: 4) else { return nil }
    if managementEvents.contains(event) { return 6 }
    // Command Complete: behind the opcode and the status. Local Out Of Band Extended Data Updated.
    if event == 0x0001, let opcode = octets.little16(at: 6), managementResults.contains(opcode) { return 9 }
    return event == 0x0022 ? 6 : nil
  }
}
