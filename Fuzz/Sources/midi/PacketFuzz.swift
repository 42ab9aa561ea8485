import Bluetooth
import Fuzzing
import MIDI

/// Packets of MIDI over Bluetooth LE: nothing traps, each octet is in an event or ignored, events that were read are
/// written so that they are read again, and messages are passed on in order and in time.
@main
enum PacketFuzz {
  static func main() {
    fuzz { octets in
      var input = FuzzInput(octets)
      var decoder = MIDIPacketDecoder()
      var again = MIDIPacketDecoder()
      var queue = MIDIPacketQueue()
      queue.limit = Int(input.octet())
      var playout = MIDIPlayout(delay: .milliseconds(15))
      var (now, last) = (Instant.zero, Instant.zero)
      while !input.isEmpty {
        let packet = decoder.decode(input.packet())
        now = now.advanced(by: .milliseconds(Int(input.octet()) * Int(input.octet())))
        for event in packet.events {
          check(event)
          let time = playout.time(of: event.timestamp, arrived: now)
          invariant(time >= now && time >= last && time <= now.advanced(by: playout.delay), "at a wrong time")
          last = time
          write(event, to: &queue, &again, limit: max(queue.limit, MIDIPacketQueue.shortestLimit))
        }
      }
    }
  }

  private static func check(_ event: MIDIEvent) {
    if let timestamp = event.timestamp { invariant(timestamp < MIDIEvent.timestamps, "\(timestamp)") }
    switch event.message {
    case .short(let octets):
      invariant(octets.first.flatMap { MIDIMessage.dataCount(of: $0) } == octets.count - 1, "\(octets) is no message")
      invariant(octets.dropFirst().allSatisfy { $0 < 0x80 }, "\(octets) has data above 7F")
    case .exclusive(let octets):
      invariant(!octets.isEmpty, "an empty piece")
      invariant(octets.dropFirst().dropLast().allSatisfy { $0 < 0x80 }, "\(octets) has a status inside")
    }
  }

  /// The octets of an event are the same after it was written and read.
  private static func write(
    _ event: MIDIEvent, to queue: inout MIDIPacketQueue, _ decoder: inout MIDIPacketDecoder, limit: Int
  ) {
    // A piece of a message whose start was cut off has no packet.
    guard queue.append(event.message, at: event.timestamp ?? 0) else { return }
    var read: [UInt8] = []
    while let packet = queue.next() {
      invariant(packet.count <= limit, "a packet of \(packet.count) octets")
      let result = decoder.decode(packet)
      invariant(result.ignored == 0, "\(packet) is not read whole")
      for each in result.events {
        switch each.message {
        case .short(let octets), .exclusive(let octets): read += octets
        }
      }
    }
    switch event.message {
    case .short(let octets), .exclusive(let octets): invariant(read == octets, "\(octets) became \(read)")
    }
  }
}
