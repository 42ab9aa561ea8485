import Testing

@testable import MIDI

@Suite("Packets of MIDI over Bluetooth LE, written")
struct MIDIPacketQueueTests {
  private func packets(_ queue: MIDIPacketQueue) -> [[UInt8]] {
    var queue = queue
    return Array(sequence(state: ()) { _ in queue.next() })
  }

  private func queue(_ events: [(MIDIMessage, UInt16)], limit: Int = 20) -> MIDIPacketQueue {
    var queue = MIDIPacketQueue()
    queue.limit = limit
    for (message, timestamp) in events { append(message, at: timestamp, to: &queue) }
    return queue
  }

  private func append(_ message: MIDIMessage, at timestamp: UInt16, to queue: inout MIDIPacketQueue) {
    let isAccepted = queue.append(message, at: timestamp)
    #expect(isAccepted)
  }

  @Test("A chord is one packet with one status")
  func chord() {
    let chord: [(MIDIMessage, UInt16)] = [60, 64, 67].map { (.short([0x90, $0, 100]), 0x1283) }
    #expect(packets(queue(chord)) == [[0xA5, 0x83, 0x90, 60, 100, 64, 100, 67, 100]])
  }

  @Test("Another time, another status, and the status behind a system message are written")
  func statuses() {
    let events: [(MIDIMessage, UInt16)] = [
      (.short([0x90, 60, 1]), 1), (.short([0x90, 61, 1]), 2), (.short([0xB0, 7, 9]), 2), (.short([0xF8]), 2),
      (.short([0xB0, 7, 8]), 2),
    ]
    #expect(
      packets(queue(events, limit: 64))
        == [[0x80, 0x81, 0x90, 60, 1, 0x82, 61, 1, 0x82, 0xB0, 7, 9, 0x82, 0xF8, 0x82, 0xB0, 7, 8]])
  }

  @Test("A full packet, and one whose time is too far back, are followed by another")
  func limits() {
    let notes: [(MIDIMessage, UInt16)] = (0..<10).map { (.short([0x90, $0, 1]), 1) }
    let sizes = packets(queue(notes)).map(\.count)
    #expect(sizes == [19, 7])
    #expect(
      packets(queue([(.short([0xF8]), 127), (.short([0xF8]), 254), (.short([0xF8]), 382)]))
        == [[0x80, 0xFF, 0xF8, 0xFE, 0xF8], [0x82, 0xFE, 0xF8]])
    #expect(packets(queue([(.short([0xF8]), 0x1FFF), (.short([0xF8]), 0)])) == [[0xBF, 0xFF, 0xF8, 0x80, 0xF8]])
  }

  @Test("A system exclusive message goes on in the next packet")
  func exclusive() {
    let message: MIDIMessage = .exclusive([0xF0] + Array(1...30) + [0xF7])
    let first: [UInt8] = [0x80, 0x85, 0xF0] + Array(1...17)
    let second: [UInt8] = [0x80] + Array(18...30) + [0x85, 0xF7]
    #expect(packets(queue([(message, 5)])) == [first, second])
  }

  @Test("Its end may need a packet of its own")
  func bareEnd() {
    #expect(
      packets(queue([(.exclusive([0xF0] + Array(1...16) + [0xF7]), 5)]))
        == [[0x80, 0x85, 0xF0] + Array(1...16), [0x80, 0x85, 0xF7]])
  }

  @Test("Its pieces arrive one by one, with a real-time message between")
  func pieces() {
    #expect(
      packets(queue([(.exclusive([0xF0, 1]), 5), (.short([0xF8]), 6), (.exclusive([2, 0xF7]), 7)]))
        == [[0x80, 0x85, 0xF0, 1, 0x86, 0xF8, 2, 0x87, 0xF7]])
  }

  @Test("Pieces behind another message have no start, and are refused")
  func cut() {
    var queue = queue([(.exclusive([0xF0, 1]), 5), (.short([0x90, 60, 1]), 6)])
    let isAccepted = queue.append(.exclusive([2, 0xF7]), at: 7)
    #expect(!isAccepted)
  }

  @Test(
    "Octets that are no message are refused",
    arguments: [[], [60], [0x90, 60], [0x90, 60, 0x80], [0xF0, 1], [0xF8, 1], [0xF4], [0xF9]] as [[UInt8]])
  func garbage(octets: [UInt8]) {
    var queue = MIDIPacketQueue()
    let isAccepted = queue.append(.short(octets), at: 0)
    #expect(!isAccepted && queue == MIDIPacketQueue())
  }

  @Test("Each packet is read as it was written", arguments: [20, 21, 64, 244])
  func roundTrip(limit: Int) {
    var generator = SystemRandomNumberGenerator()
    var queue = MIDIPacketQueue()
    queue.limit = limit
    var time: UInt16 = 8000
    var written: [MIDIEvent] = []
    for _ in 0..<500 {
      time = (time + UInt16.random(in: 0...90, using: &generator)) % MIDIEvent.timestamps
      let message: MIDIMessage =
        [
          .short([0x90, 60, 1]), .short([0x91, 60, 1]), .short([0xC0, 3]), .short([0xF8]), .short([0xF2, 1, 2]),
          .exclusive([0xF0] + [UInt8](repeating: 9, count: Int.random(in: 0...70, using: &generator)) + [0xF7]),
        ].randomElement(using: &generator) ?? .short([0xFE])
      append(message, at: time, to: &queue)
      written.append(MIDIEvent(message, at: time))
    }
    var decoder = MIDIPacketDecoder()
    var read: [MIDIEvent] = []
    while let octets = queue.next() {
      #expect(octets.count <= limit)
      let packet = decoder.decode(octets)
      #expect(packet.ignored == 0)
      for event in packet.events {
        if case .exclusive(let piece) = event.message, piece.first != 0xF0,
          case .exclusive(let start)? = read.last?.message
        {
          read[read.count - 1].message = .exclusive(start + piece)
        } else {
          read.append(event)
        }
      }
    }
    #expect(read == written)
  }
}
