import MIDI

/// The keys and pedals of a device that are held down: without a link they would sound for ever.
struct HeldNotes {
  private struct Key: Hashable, Comparable {
    let channel: UInt8
    let number: UInt8

    static func < (left: Self, right: Self) -> Bool {
      (left.channel, left.number) < (right.channel, right.number)
    }
  }

  /// The controllers of pedals that hold notes: sustain, sostenuto, hold 2.
  private static let pedalControllers: [UInt8] = [64, 66, 69]

  private var notes: Set<Key> = []
  private var pedals: Set<Key> = []

  mutating func note(_ message: MIDIMessage) {
    guard case .short(let octets) = message, octets.count == 3 else { return }
    let key = Key(channel: octets[0] & 0x0F, number: octets[1])
    switch octets[0] & 0xF0 {
    case 0x90 where octets[2] > 0: notes.insert(key)
    case 0x80, 0x90: notes.remove(key)
    case 0xB0 where Self.pedalControllers.contains(key.number):
      if octets[2] >= 64 { pedals.insert(key) } else { pedals.remove(key) }
    default: break
    }
  }

  /// The messages that release all of them.
  mutating func release() -> [MIDIMessage] {
    defer { (notes, pedals) = ([], []) }
    return notes.sorted().map { .short([0x80 | $0.channel, $0.number, 64]) }
      + pedals.sorted().map { .short([0xB0 | $0.channel, $0.number, 0]) }
  }
}
