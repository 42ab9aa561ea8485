import MIDI

/// An event of ALSA's sequencer as the kernel reads and writes it: `struct snd_seq_event` (sound/asequencer.h), in the
/// order of octets of the machines that bled runs on, the lowest first.
enum SequencerEvent {
  /// The length in octets, without the data of a variable one.
  static let length = 28
  /// The flag of an event with data behind it (SNDRV_SEQ_EVENT_LENGTH_VARIABLE), and its mask.
  private static let variable: UInt8 = 4
  private static let lengthMask: UInt8 = 12
  /// At once, not by a queue of the sequencer (SNDRV_SEQ_QUEUE_DIRECT).
  private static let direct: UInt8 = 253
  /// Each port that is connected (SNDRV_SEQ_ADDRESS_SUBSCRIBERS).
  private static let subscribers: [UInt8] = [254, 253]

  /// The numbers of event types.
  private enum Kind {
    static let noteOn: UInt8 = 6
    static let noteOff: UInt8 = 7
    static let keyPressure: UInt8 = 8
    static let controller: UInt8 = 10
    static let program: UInt8 = 11
    static let channelPressure: UInt8 = 12
    static let pitchBend: UInt8 = 13
    static let controller14: UInt8 = 14
    static let unregisteredParameter: UInt8 = 15
    static let registeredParameter: UInt8 = 16
    static let songPosition: UInt8 = 20
    static let songSelect: UInt8 = 21
    static let quarterFrame: UInt8 = 22
    static let exclusive: UInt8 = 130
    /// The messages that are a status alone, with their events.
    static let bare: [(status: UInt8, kind: UInt8)] = [
      (0xF6, 40), (0xF8, 36), (0xFA, 30), (0xFB, 31), (0xFC, 32), (0xFE, 42), (0xFF, 41),
    ]
  }

  // MARK: To the sequencer

  /// The event of a message, for all ports that are connected to a port of this client.
  /// - Returns: nil for octets that are no message.
  static func octets(of message: MIDIMessage, from port: UInt8) -> [UInt8]? {
    switch message {
    case .exclusive(let data):
      let place = number(UInt32(truncatingIfNeeded: data.count)) + [UInt8](repeating: 0, count: 8)
      return event(Kind.exclusive, flags: variable, port, place) + data
    case .short(let octets):
      guard let status = octets.first, MIDIMessage.dataCount(of: status) == octets.count - 1 else { return nil }
      return content(status, Array(octets.dropFirst())).map { event($0.kind, flags: 0, port, $0.data) }
    }
  }

  private static func content(_ status: UInt8, _ data: [UInt8]) -> (kind: UInt8, data: [UInt8])? {
    let channel = status & 0x0F
    func value14() -> Int32 { Int32(data[0]) | Int32(data[1]) << 7 }
    switch status & 0xF0 {
    case 0x80: return (Kind.noteOff, note(channel, data))
    case 0x90: return (Kind.noteOn, note(channel, data))
    case 0xA0: return (Kind.keyPressure, note(channel, data))
    case 0xB0: return (Kind.controller, control(channel, UInt32(data[0]), Int32(data[1])))
    case 0xC0: return (Kind.program, control(channel, 0, Int32(data[0])))
    case 0xD0: return (Kind.channelPressure, control(channel, 0, Int32(data[0])))
    case 0xE0: return (Kind.pitchBend, control(channel, 0, value14() - 8192))
    default: break
    }
    switch status {
    case 0xF1: return (Kind.quarterFrame, control(0, 0, Int32(data[0])))
    case 0xF2: return (Kind.songPosition, control(0, 0, value14()))
    case 0xF3: return (Kind.songSelect, control(0, 0, Int32(data[0])))
    default:
      return Kind.bare.first { $0.status == status }.map { ($0.kind, [UInt8](repeating: 0, count: 12)) }
    }
  }

  private static func event(_ kind: UInt8, flags: UInt8, _ port: UInt8, _ data: [UInt8]) -> [UInt8] {
    // Behind the queue: the time, the client, which the kernel fills in, and the port.
    [kind, flags, 0, direct] + [UInt8](repeating: 0, count: 9) + [port] + subscribers + data
  }

  private static func note(_ channel: UInt8, _ data: [UInt8]) -> [UInt8] {
    [channel, data[0], data[1]] + [UInt8](repeating: 0, count: 9)
  }

  private static func control(_ channel: UInt8, _ parameter: UInt32, _ value: Int32) -> [UInt8] {
    [channel, 0, 0, 0] + number(parameter) + number(UInt32(bitPattern: value))
  }

  private static func number(_ value: UInt32) -> [UInt8] { withUnsafeBytes(of: value.littleEndian) { Array($0) } }

  // MARK: From the sequencer

  /// The messages of events that were read together. Events that are no messages are left out.
  static func messages(in octets: [UInt8]) -> [MIDIMessage] {
    var messages: [MIDIMessage] = []
    var rest = octets[...]
    while rest.count >= length {
      let head = Array(rest.prefix(length))
      rest = rest.dropFirst(length)
      guard head[1] & lengthMask == variable else {
        messages += shortMessages(head)
        continue
      }
      // The upper bits are the kernel's own.
      let count = Int(field(head, at: 16) & 0x3FFF_FFFF)
      guard count <= rest.count else { break }
      if head[0] == Kind.exclusive, count > 0 { messages.append(.exclusive(Array(rest.prefix(count)))) }
      rest = rest.dropFirst((count + length - 1) / length * length)
    }
    return messages
  }

  private static func shortMessages(_ head: [UInt8]) -> [MIDIMessage] {
    let channel = head[16] & 0x0F
    let parameter = field(head, at: 20)
    let value = field(head, at: 24)
    func low(_ number: UInt32) -> UInt8 { UInt8(number & 0x7F) }
    func high(_ number: UInt32) -> UInt8 { UInt8(number >> 7 & 0x7F) }
    func note(_ status: UInt8) -> [MIDIMessage] { [.short([status | channel, head[17] & 0x7F, head[18] & 0x7F])] }
    func controls(_ all: (UInt8, UInt8)...) -> [MIDIMessage] { all.map { .short([0xB0 | channel, $0.0, $0.1]) } }
    switch head[0] {
    case Kind.noteOn: return note(0x90)
    case Kind.noteOff: return note(0x80)
    case Kind.keyPressure: return note(0xA0)
    case Kind.controller: return controls((low(parameter), low(value)))
    case Kind.program: return [.short([0xC0 | channel, low(value)])]
    case Kind.channelPressure: return [.short([0xD0 | channel, low(value)])]
    case Kind.pitchBend:
      let bend = value &+ 8192
      return [.short([0xE0 | channel, low(bend), high(bend)])]
    case Kind.controller14:
      guard parameter < 32 else { return controls((low(parameter), low(value))) }
      return controls((low(parameter), high(value)), (low(parameter) + 32, low(value)))
    case Kind.unregisteredParameter:
      return controls((99, high(parameter)), (98, low(parameter)), (6, high(value)), (38, low(value)))
    case Kind.registeredParameter:
      return controls((101, high(parameter)), (100, low(parameter)), (6, high(value)), (38, low(value)))
    case Kind.songPosition: return [.short([0xF2, low(value), high(value)])]
    case Kind.songSelect: return [.short([0xF3, low(value)])]
    case Kind.quarterFrame: return [.short([0xF1, low(value)])]
    case let kind: return Kind.bare.first { $0.kind == kind }.map { [.short([$0.status])] } ?? []
    }
  }

  private static func field(_ head: [UInt8], at place: Int) -> UInt32 {
    head[place..<place + 4].reversed().reduce(0) { $0 << 8 | UInt32($1) }
  }
}
