import MIDI
import Testing

@testable import MIDIGateway

@Suite("Events of ALSA's sequencer")
struct SequencerEventTests {
  /// An event for the ports that are connected to port 3, with its data.
  private func event(_ kind: UInt8, _ data: [UInt8], flags: UInt8 = 0) -> [UInt8] {
    [kind, flags, 0, 253, 0, 0, 0, 0, 0, 0, 0, 0, 0, 3, 254, 253] + data + [UInt8](repeating: 0, count: 12 - data.count)
  }

  @Test(
    "A message and its event, both ways",
    arguments: [
      ([0x81, 60, 64], 7, [1, 60, 64]), ([0x9F, 60, 100], 6, [15, 60, 100]), ([0xA0, 60, 1], 8, [0, 60, 1]),
      ([0xB2, 7, 127], 10, [2, 0, 0, 0, 7, 0, 0, 0, 127]), ([0xC3, 9], 11, [3, 0, 0, 0, 0, 0, 0, 0, 9]),
      ([0xD0, 5], 12, [0, 0, 0, 0, 0, 0, 0, 0, 5]), ([0xE0, 0, 0x40], 13, []),
      ([0xE1, 0, 0], 13, [1, 0, 0, 0, 0, 0, 0, 0, 0, 0xE0, 0xFF, 0xFF]),
      ([0xF1, 0x35], 22, [0, 0, 0, 0, 0, 0, 0, 0, 0x35]), ([0xF2, 1, 2], 20, [0, 0, 0, 0, 0, 0, 0, 0, 1, 1]),
      ([0xF3, 4], 21, [0, 0, 0, 0, 0, 0, 0, 0, 4]), ([0xF6], 40, []), ([0xF8], 36, []), ([0xFA], 30, []),
      ([0xFB], 31, []), ([0xFC], 32, []), ([0xFE], 42, []), ([0xFF], 41, []),
    ] as [([UInt8], UInt8, [UInt8])])
  func both(message: [UInt8], kind: UInt8, data: [UInt8]) {
    let octets = event(kind, data)
    #expect(SequencerEvent.octets(of: .short(message), from: 3) == octets)
    #expect(SequencerEvent.messages(in: octets) == [.short(message)])
  }

  @Test("A system exclusive message has its data behind the event, padded where it is read")
  func exclusive() {
    let data: [UInt8] = [0xF0] + [UInt8](repeating: 1, count: 40) + [0xF7]
    let octets = event(130, [42], flags: 4) + data
    #expect(SequencerEvent.octets(of: .exclusive(data), from: 3) == octets)
    let read = octets + [UInt8](repeating: 0, count: 14) + event(36, [])
    #expect(SequencerEvent.messages(in: read) == [.exclusive(data), .short([0xF8])])
    // With the kernel's own bits in the length.
    let marked = event(130, [2, 0, 0, 0x40], flags: 4) + [0xF0, 0xF7] + [UInt8](repeating: 0, count: 26)
    #expect(SequencerEvent.messages(in: marked) == [.exclusive([0xF0, 0xF7])])
  }

  @Test("Controllers of 14 bits and parameters are several messages")
  func controllers() {
    func messages(_ kind: UInt8, _ parameter: UInt8, _ more: UInt8, _ value: UInt8, _ high: UInt8) -> [MIDIMessage] {
      SequencerEvent.messages(in: event(kind, [2, 0, 0, 0, parameter, more, 0, 0, value, high]))
    }
    #expect(messages(14, 1, 0, 0x82, 1) == [.short([0xB2, 1, 3]), .short([0xB2, 33, 2])])
    #expect(messages(14, 64, 0, 1, 0) == [.short([0xB2, 64, 1])])
    #expect(messages(16, 5, 0, 0x82, 1) == [[101, 0], [100, 5], [6, 3], [38, 2]].map { .short([0xB2] + $0) })
    #expect(messages(15, 0x85, 0, 0x82, 1) == [[99, 1], [98, 5], [6, 3], [38, 2]].map { .short([0xB2] + $0) })
  }

  @Test("Octets beyond MIDI are cut to its range, other events and cut off ones are left out")
  func others() {
    #expect(SequencerEvent.messages(in: event(6, [0xFF, 0xFF, 0xFF])) == [.short([0x9F, 0x7F, 0x7F])])
    #expect(SequencerEvent.messages(in: event(66, [1, 2, 3, 4]) + event(255, []) + event(5, [0, 60, 1])) == [])
    #expect(SequencerEvent.messages(in: Array(event(6, [0, 60, 1]).dropLast())) == [])
    #expect(SequencerEvent.messages(in: event(130, [40], flags: 4) + [0xF0]) == [])
    #expect(SequencerEvent.messages(in: event(130, [255, 255, 255, 255], flags: 4)) == [])
  }

  @Test("Octets that are no message have no event", arguments: [[], [0x90], [0xF4], [60, 1]] as [[UInt8]])
  func nonsense(octets: [UInt8]) {
    #expect(SequencerEvent.octets(of: .short(octets), from: 0) == nil)
  }

  @Test("Requests have the sizes of their numbers")
  func requests() {
    func size(_ number: UInt) -> Int { Int(number >> 16 & 0x3FFF) }
    let client = SequencerRequest.client(128, name: "Keys\u{7}" + String(repeating: "é", count: 40))
    #expect(client.count == size(SequencerRequest.setClient))
    #expect(Array(client.prefix(13)) == [128, 0, 0, 0, 1, 0, 0, 0, 0x4B, 0x65, 0x79, 0x73, 0x3F] as [UInt8])
    #expect(client[71] == 0 && client[70] == 0xA9, "whole characters, and a zero")
    let port = SequencerRequest.port(128, name: "Keys")
    #expect(port.count == size(SequencerRequest.createPort))
    #expect(port[0] == 128 && port[2] == UInt8(ascii: "K"))
    #expect(Array(port[68..<80]) == [0x73, 0, 0, 0, 2, 0, 9, 0, 16, 0, 0, 0])
    #expect(SequencerRequest.pool(128).count == size(SequencerRequest.setPool))
  }
}
