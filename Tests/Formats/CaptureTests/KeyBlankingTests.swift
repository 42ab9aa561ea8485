import Bluetooth
import Testing

@testable import Capture

/// Octets that may not be in a recording.
@Suite struct KeyBlankingTests {
  /// The octets after blanking, as hex.
  private func blanked(_ kind: MonitorPacket.Kind, _ octets: String...) -> [String] {
    var blanking = KeyBlanking()
    return octets.map { text in
      let packet = MonitorPacket(kind, Hex.decode(text.replacing(" ", with: "")) ?? [])
      return Hex.encode(blanking.blank(packet).octets)
    }
  }

  private static let key = String(repeating: "aa", count: 16)
  private static let zeros = String(repeating: "00", count: 16)

  @Test("the keys of HCI commands and events become zeros of the same length; the link they are for stays")
  func hci() {
    // LE Enable Encryption: the random number and the diversifier go, too.
    #expect(
      blanked(.command, "1920 1c 4000 1112131415161718 2122 \(Self.key)")
        == ["19201c4000" + String(repeating: "00", count: 26)])
    #expect(blanked(.command, "1a20 12 4000 \(Self.key)") == ["1a20124000" + Self.zeros])
    // LE Add Device To Resolving List.
    #expect(
      blanked(.command, "2720 27 01 665544332211 \(Self.key) \(Self.key)")
        == ["27202701665544332211" + Self.zeros + Self.zeros])
    // Link Key Notification; Command Complete of Read Local OOB Data.
    #expect(blanked(.event, "18 17 665544332211 \(Self.key) 04") == ["1817665544332211" + Self.zeros + "00"])
    #expect(blanked(.event, "0e 24 01 570c 00 \(Self.key) \(Self.key)") == ["0e2401570c00" + Self.zeros + Self.zeros])
  }

  @Test("what is no key stays: other commands, events, ATT, and the rest of the Security Manager")
  func harmless() {
    for (kind, text) in [
      (MonitorPacket.Kind.command, "0c2002010000"), (.event, "3e1301004000000166554433221118000000c80000"),
      (.sentACL, "40000700030004000a0300"), (.sentACL, "40000b0007000600 01 030005100707"),
      (.receivedACL, "4020070003000400 0b aabb"), (.newIndex, "0000665544332211"),
    ] {
      let plain = text.replacing(" ", with: "")
      #expect(blanked(kind, text) == [plain])
    }
  }

  @Test("keys of the Security Manager, and Pairing Random, are blanked in both directions and in every piece")
  func securityManager() {
    for code in ["03", "04", "06", "07", "08", "0a"] {
      #expect(
        blanked(.sentACL, "4000 1500 1100 0600 \(code) \(Self.key)") == ["4000150011000600\(code)" + Self.zeros])
    }
    // In pieces: the next packet of the link is shown again.
    let rest = String(repeating: "aa", count: 14)
    #expect(
      blanked(.receivedACL, "4020 0700 1100 0600 06 aaaa", "4010 0e00 \(rest)", "4020 0500 0100 0400 13")
        == ["4020070011000600060000", "40100e00" + String(repeating: "00", count: 14), "402005000100040013"])
    // A piece with an unseen beginning, and octets beyond the announced length of its packet.
    #expect(blanked(.receivedACL, "4010 0300 aabbcc") == ["40100300000000"])
    #expect(
      blanked(.receivedACL, "4020 0600 0300 0400 0baa", "4010 0100 bb", "4010 0100 cc")
        == ["40200600030004000baa", "40100100bb", "4010010000"])
    // Cut before the code: its continuation cannot be told apart.
    #expect(
      blanked(.receivedACL, "4020 0400 1100 0600", "4010 1100 06 \(Self.key)")
        == ["4020040011000600", "40101100" + "00" + Self.zeros])
  }

  @Test("of a packet that was not recorded as a whole its real length counts")
  func cut() {
    var blanking = KeyBlanking()
    // 16 octets, of which 5 are recorded: none are pending.
    var start = MonitorPacket(.receivedACL, Hex.decode("402014001000040013aabbccdd") ?? [])
    start.length = 24
    #expect(blanking.blank(start) == start)
    let piece = MonitorPacket(.receivedACL, Hex.decode("40100300aaaaaa") ?? [])
    #expect(blanking.blank(piece).octets == [0x40, 0x10, 3, 0, 0, 0, 0])
  }

  @Test("the calls and events of mgmt that carry keys are blanked behind their number")
  func management() {
    #expect(blanked(.controlCommand, "01000000 1300 0100 \(Self.key)") == ["010000001300" + "0000" + Self.zeros])
    #expect(blanked(.controlEvent, "01000000 0a00 01 \(Self.key)") == ["010000000a00" + "00" + Self.zeros])
    #expect(
      blanked(.controlEvent, "01000000 0100 3b00 00 01 \(Self.key)") == ["0100000001003b000000" + Self.zeros])
    #expect(blanked(.controlCommand, "01000000 0500 01") == ["01000000050001"])
    // Set Blocked Keys: one, a long term key.
    #expect(blanked(.controlCommand, "01000000 4600 0100 01 \(Self.key)") == ["010000004600" + "000000" + Self.zeros])
    // User Passkey Reply; Local Out Of Band Data Updated.
    #expect(
      blanked(.controlCommand, "01000000 1e00 665544332211 02 40e20100")
        == ["010000001e00" + "00000000000000" + "00000000"])
    #expect(blanked(.controlEvent, "01000000 2200 \(Self.key)") == ["010000002200" + Self.zeros])
  }

  @Test("short and cut packets are no trap", arguments: 0..<12)
  func short(length: Int) {
    for kind in 0..<20 as Range<UInt16> {
      var blanking = KeyBlanking()
      let octets = [UInt8](repeating: 0x18, count: length)
      #expect(blanking.blank(MonitorPacket(.init(rawValue: kind), octets)).octets.count == length)
    }
  }
}
