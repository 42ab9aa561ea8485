import Testing

@testable import MIDI

@Suite("Packets of MIDI over Bluetooth LE, read")
struct MIDIPacketDecoderTests {
  private func short(_ octets: [UInt8], _ timestamp: UInt16?) -> MIDIEvent { MIDIEvent(.short(octets), at: timestamp) }

  private func piece(_ octets: [UInt8], _ timestamp: UInt16?) -> MIDIEvent {
    MIDIEvent(.exclusive(octets), at: timestamp)
  }

  private struct Outcome: Equatable {
    var events: [MIDIEvent]
    var ignored = 0
  }

  private func read(_ packets: [UInt8]...) -> Outcome {
    var decoder = MIDIPacketDecoder()
    let all = packets.map { decoder.decode($0) }
    return Outcome(events: all.flatMap(\.events), ignored: all.map(\.ignored).reduce(0, +))
  }

  @Test("A note: the time has 6 bits of the header and 7 of the timestamp")
  func note() {
    #expect(read([0xA5, 0x83, 0x90, 60, 100]) == Outcome(events: [short([0x90, 60, 100], 0x25 << 7 | 3)]))
  }

  @Test("Full messages, each with its timestamp")
  func several() {
    #expect(
      read([0x80, 0x81, 0x90, 60, 100, 0x82, 0xC1, 5, 0x82, 0xE0, 0, 0x40])
        == Outcome(events: [short([0x90, 60, 100], 1), short([0xC1, 5], 2), short([0xE0, 0, 0x40], 2)]))
  }

  @Test("Running status, without and with timestamps")
  func running() {
    #expect(
      read([0x80, 0x81, 0x90, 60, 100, 64, 100, 0x85, 67, 100])
        == Outcome(events: [short([0x90, 60, 100], 1), short([0x90, 64, 100], 1), short([0x90, 67, 100], 5)]))
  }

  @Test("System messages between do not end running status")
  func runningOn() {
    #expect(
      read([0x80, 0x81, 0x90, 60, 100, 0x82, 0xF8, 0x82, 0xF2, 1, 2, 0x83, 62, 0])
        == Outcome(events: [
          short([0x90, 60, 100], 1), short([0xF8], 2), short([0xF2, 1, 2], 2), short([0x90, 62, 0], 3),
        ]))
  }

  @Test("The end of a packet ends running status")
  func runningEnds() {
    #expect(
      read([0x80, 0x81, 0x90, 60, 100], [0x80, 0x82, 64, 100])
        == Outcome(events: [short([0x90, 60, 100], 1)], ignored: 2))
  }

  @Test("Timestamps that overflow go on with the next upper bits, which overflow, too")
  func overflow() {
    #expect(
      read([0x80, 0xFF, 0xF8, 0x80, 0xF8, 0x81, 0xF8])
        == Outcome(events: [short([0xF8], 127), short([0xF8], 128), short([0xF8], 129)]))
    #expect(read([0xBF, 0xFF, 0xF8, 0x80, 0xF8]) == Outcome(events: [short([0xF8], 0x1FFF), short([0xF8], 0)]))
  }

  @Test("A system exclusive message in one packet")
  func exclusive() {
    #expect(
      read([0x80, 0x81, 0xF0, 0x7E, 1, 0x81, 0xF7, 0x82, 0xF8])
        == Outcome(events: [piece([0xF0, 0x7E, 1, 0xF7], 1), short([0xF8], 2)]))
  }

  @Test("A system exclusive message in pieces")
  func pieces() {
    #expect(
      read([0x80, 0x81, 0xF0, 1, 2], [0x80, 3, 4], [0x80, 5, 0x83, 0xF7], [0x80, 0x84, 0x80, 60, 0])
        == Outcome(events: [
          piece([0xF0, 1, 2], 1), piece([3, 4], nil), piece([5, 0xF7], nil), short([0x80, 60, 0], 4),
        ]))
  }

  @Test("A real-time message within a system exclusive one")
  func realTime() {
    #expect(
      read([0x80, 0x81, 0xF0, 1, 0x82, 0xF8, 2], [0x80, 0x83, 0xFE, 3, 0x84, 0xF7])
        == Outcome(events: [
          piece([0xF0, 1], 1), short([0xF8], 2), piece([2], 2), short([0xFE], 3), piece([3, 0xF7], 3),
        ]))
  }

  @Test("A system exclusive message ends without a timestamp")
  func bareEnd() {
    #expect(
      read([0x80, 0x81, 0xF0, 1, 0xF7], [0x80, 0x82, 0xF8])
        == Outcome(events: [piece([0xF0, 1, 0xF7], 1), short([0xF8], 2)]))
  }

  @Test("A status, or another start, cuts a system exclusive message off")
  func cut() {
    #expect(
      read([0x80, 0x81, 0xF0, 1, 0x82, 0x90, 60, 1, 61, 1])
        == Outcome(events: [piece([0xF0, 1], 1), short([0x90, 60, 1], 2), short([0x90, 61, 1], 2)]))
    #expect(
      read([0x80, 0x81, 0xF0, 1], [0x80, 0x82, 0xF0, 2, 0x82, 0xF7])
        == Outcome(events: [piece([0xF0, 1], 1), piece([0xF0, 2, 0xF7], 2)]))
  }

  @Test(
    "Octets that belong to no message are ignored, and counted",
    arguments: [
      [], [0x80], [0x7F, 0x81, 0x90, 60, 1], [0x80, 60], [0x80, 0x81], [0x80, 0x81, 0x90], [0x80, 0x81, 0x90, 60],
      [0x80, 0x81, 0xF7], [0x80, 0x81, 0xF4], [0x80, 0x81, 0xF9], [0x80, 0x81, 0xF4, 1, 2], [0x80, 0xF7],
    ] as [[UInt8]])
  func garbage(octets: [UInt8]) {
    let result = read(octets)
    #expect(result.events == [])
    #expect(octets.count < 2 || result.ignored > 0)
  }

  @Test("A message that is cut off does not hide the next")
  func afterCut() {
    #expect(read([0x80, 0x81, 0x90, 60, 0x82, 0xB0, 7, 90]) == Outcome(events: [short([0xB0, 7, 90], 2)], ignored: 2))
  }
}
