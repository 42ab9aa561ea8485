import ATT
import Bluetooth
import HCI

/// The content of a recorded packet, for people.
public struct TrafficEntry: Hashable, Sendable {
  /// The direction of a packet.
  public enum Direction: Hashable, Sendable {
    /// To the device.
    case sent
    /// From the device.
    case received
    /// The adapter's own packet.
    case none
  }

  /// When it passed, in microseconds since the epoch.
  public var time: Int64
  /// The adapter's number; `CaptureRecord.noAdapter` for a note.
  public var adapter: UInt16
  /// The adapter's name, if the recording has it: the first seven octets, or in pcapng all of it.
  public var adapterName: String?
  /// The device; nil for packets without one, and on links older than the recording.
  public var peer: DeviceAddress?
  /// The packet's direction.
  public var direction: Direction
  /// The content: "Read Request", "connected as central, interval 30 ms".
  public var text: String
  /// An ATT packet's opcode (Core 5.4, Vol 3, Part F, 3.3.1); nil for others.
  public var opcode: UInt8?
  /// An HCI command's opcode (Core 5.4, Vol 4, Part E, 5.4.1), also in its answers; nil for others.
  public var command: UInt16?
  /// The code of an HCI event without its own words (5.4.4); nil for others.
  public var event: UInt8?
  /// Its attribute; nil for none or several.
  public var handle: UInt16?
  /// The attribute's type; nil if the recording does not show it before.
  public var attribute: AttributeType?
  /// Its value.
  public var value: [UInt8]?
  /// True for a note by the daemon.
  public var isAnnotation = false
}

/// Reads a recording packet by packet: link events, ATT, and the names of signalling and Security Manager packets. It
/// attributes responses to their requests' attributes.
///
/// | Input                                    | Output                                                  |
/// |------------------------------------------|---------------------------------------------------------|
/// | a link was established, changed or ended | that, with the device                                   |
/// | a piece of data                          | nothing, or the packet that it completes (`LinkFrames`) |
/// | an ATT request                           | it; its handle is remembered for the response           |
/// | the response to a discovery              | it; types are remembered for handles (`AttributeTypes`) |
/// | a note with attributes                   | nothing; likewise                                       |
/// | an advertising report                    | nothing, or each advertisement if they are wanted       |
/// | a command, any other event               | nothing, or its name and parameters if they are wanted  |
/// | a note                                   | its text                                                |
/// | a controller appeared, has power, …      | that                                                    |
public struct TrafficDecoder: Sendable {
  /// A request's place: its side, and a link's bearer.
  private struct Question: Hashable {
    let link: LinkNumber
    let bearer: Int
    let isSent: Bool
  }

  /// A limit for requests that never get a response.
  private static let maximumQuestions = 4096
  private let showsAdvertisements: Bool
  private let showsCommands: Bool
  private var frames = LinkFrames()
  /// Requests without a response yet.
  private var questions: [Question: [UInt8]] = [:]
  private var types = AttributeTypes()
  private var adapterNames: [UInt16: String] = [:]

  /// Begins with no link known.
  /// - Parameters:
  ///   - advertisements: true to decode advertising reports as well.
  ///   - commands: true to decode the commands and all events of HCI.
  public init(advertisements: Bool = false, commands: Bool = false) {
    showsAdvertisements = advertisements
    showsCommands = commands
  }

  /// A packet's entries; none if it has nothing for people.
  public mutating func decode(_ record: CaptureRecord) -> [TrafficEntry] {
    noteName(record)
    guard let name = adapterNames[record.adapter] else { return entries(of: record) }
    return entries(of: record).map { entry in
      var entry = entry
      entry.adapterName = name
      return entry
    }
  }

  private mutating func noteName(_ record: CaptureRecord) {
    guard record.adapter != CaptureRecord.noAdapter, adapterNames.count < 256 else { return }
    if let name = record.adapterName {
      adapterNames[record.adapter] = name
    } else if record.packet.kind == .newIndex, record.packet.octets.count >= 16 {
      // The type, the bus, the address, then the name (BlueZ, doc/btsnoop.txt).
      let name = record.packet.octets[8..<16].prefix { $0 != 0 }
      adapterNames[record.adapter] = name.isEmpty ? nil : String(decoding: name, as: UTF8.self)
    }
  }

  private mutating func entries(of record: CaptureRecord) -> [TrafficEntry] {
    let packet = record.packet
    switch packet.kind {
    case .event: return event(packet.octets, record)
    case .command:
      guard showsCommands, let words = HCIWords(command: Self.withoutKeys(packet)) else { return [] }
      return [entry(words, .sent, record)]
    case .sentACL, .receivedACL:
      let frame = frames.receive(packet.octets[...], isSent: packet.kind == .sentACL, adapter: record.adapter)
      return frame.map { [entry($0, record)] } ?? []
    case .userLogging:
      guard let note = Annotation(packet) else { return [] }
      if let attributes = AttributeNote(note.text) {
        types.receive(attributes)
        return []
      }
      var entry = Self.entry(record, note.text)
      entry.isAnnotation = true
      return [entry]
    case .openIndex: return [Self.entry(record, "the adapter has power")]
    case .closeIndex:
      frames.reset(record.adapter)
      questions = questions.filter { $0.key.link.adapter != record.adapter }
      return [Self.entry(record, "the adapter has no power")]
    case .newIndex: return [Self.entry(record, "the adapter is there")]
    case .deletedIndex: return [Self.entry(record, "the adapter is gone")]
    default: return []
    }
  }

  private static func entry(_ record: CaptureRecord, _ text: String, _ peer: DeviceAddress? = nil) -> TrafficEntry {
    TrafficEntry(time: record.time, adapter: record.adapter, peer: peer, direction: .none, text: text)
  }

  // MARK: Events

  private mutating func event(_ octets: [UInt8], _ record: CaptureRecord) -> [TrafficEntry] {
    guard octets.count >= 2 else { return [] }
    let packet = EventPacket(code: octets[0], parameters: Array(octets.dropFirst(2)))
    guard let event = try? HCIEvent(decoding: packet) else { return named(record) }
    switch event {
    case .leAdvertisingReport, .leExtendedAdvertisingReport:
      guard showsAdvertisements else { return [] }
      return Advertisement.list(event).map { advertisement in
        var entry = Self.entry(record, advertisement.text, advertisement.peer)
        entry.direction = .received
        entry.value = advertisement.data
        return entry
      }
    default: return linkEvent(event, record).map { [$0] } ?? named(record)
    }
  }

  /// An event without its own words.
  private func named(_ record: CaptureRecord) -> [TrafficEntry] {
    let octets = Self.withoutKeys(record.packet)
    guard showsCommands, let code = octets.first else { return [] }
    return [entry(HCIWords(EventPacket(code: code, parameters: Array(octets.dropFirst(2)))), .received, record)]
  }

  private func entry(
    _ words: HCIWords, _ direction: TrafficEntry.Direction, _ record: CaptureRecord
  ) -> TrafficEntry {
    var entry = Self.entry(record, words.text, words.link.flatMap { peer(record, $0) })
    entry.direction = direction
    entry.command = words.command?.rawValue
    entry.event = words.event
    entry.value = words.value.isEmpty ? nil : words.value
    return entry
  }

  /// A recording of another program may have the keys of links.
  private static func withoutKeys(_ packet: MonitorPacket) -> [UInt8] {
    var blanking = KeyBlanking()
    return blanking.blank(packet).octets
  }

  private mutating func linkEvent(_ event: HCIEvent, _ record: CaptureRecord) -> TrafficEntry? {
    switch event {
    case .leConnectionComplete(let event):
      return connected(event.status, event.handle, event.role, event.peer, event.interval, record)
    case .leEnhancedConnectionComplete(let event):
      return connected(event.status, event.handle, event.role, event.peer, event.interval, record)
    case .disconnectionComplete(let event):
      let number = number(record, event.handle)
      questions = questions.filter { $0.key.link != number }
      return Self.entry(record, "disconnected: \(event.reason)", frames.ended(number))
    case .encryptionChange(let event):
      let text =
        event.status == .success
        ? event.mode == 0 ? "not encrypted any more" : "encrypted" : "encryption failed: \(event.status)"
      return Self.entry(record, text, peer(record, event.handle))
    case .leConnectionUpdateComplete(let event):
      let interval = Self.milliseconds(event.interval, of: 1250)
      return Self.entry(
        record,
        "parameters: interval \(interval) ms, latency \(event.latency), timeout \(Int(event.supervisionTimeout) * 10) ms",
        peer(record, event.handle))
    case .leSubrateChange(let event):
      return Self.entry(
        record,
        """
        subrating: one event of \(event.factor), continuation \(event.continuationNumber), latency \(event.latency), \
        timeout \(Int(event.supervisionTimeout) * 10) ms
        """, peer(record, event.handle))
    case .leConnectionRateChange(let event):
      return Self.entry(
        record,
        """
        rate: interval \(Self.milliseconds(event.interval, of: 125)) ms, one event of \(event.factor), continuation \
        \(event.continuationNumber), latency \(event.latency), timeout \(Int(event.supervisionTimeout) * 10) ms
        """, peer(record, event.handle))
    case .lePHYUpdateComplete(let event):
      return Self.entry(
        record, "PHY: sends on \(Self.phy(event.tx)), receives on \(Self.phy(event.rx))", peer(record, event.handle))
    case .leDataLengthChange(let event):
      return Self.entry(
        record, "packets of up to \(event.maximumTxOctets) octets sent, \(event.maximumRxOctets) received",
        peer(record, event.handle))
    case .other(let event):
      if let link = ClassicLink(event) { frames.began(number(record, link.handle), peer: nil, isClassic: true) }
      return nil
    default: return nil
    }
  }

  private mutating func connected(
    _ status: HCIStatus, _ handle: UInt16, _ role: UInt8, _ peer: HCIAddress, _ interval: UInt16,
    _ record: CaptureRecord
  ) -> TrafficEntry {
    guard status == .success else { return Self.entry(record, "connecting failed: \(status)", peer.device) }
    frames.began(number(record, handle), peer: peer.device)
    let role = role == 0 ? "central" : "peripheral"
    return Self.entry(record, "connected as \(role), interval \(Self.milliseconds(interval, of: 1250)) ms", peer.device)
  }

  /// Units with this many microseconds: "30", "7.5", "48.75", "0.375".
  private static func milliseconds(_ units: UInt16, of microseconds: Int) -> String {
    let thousandths = Int(units) * microseconds
    let (whole, rest) = (thousandths / 1000, thousandths % 1000)
    guard rest > 0 else { return "\(whole)" }
    var places = "\(1000 + rest)".dropFirst()
    while places.last == "0" { places.removeLast() }
    return "\(whole).\(places)"
  }

  private static func phy(_ number: UInt8) -> String {
    switch number {
    case 1: "1M"
    case 2: "2M"
    case 3: "coded"
    default: "PHY \(number)"
    }
  }

  private func number(_ record: CaptureRecord, _ handle: UInt16) -> LinkNumber {
    LinkNumber(adapter: record.adapter, handle: handle & 0x0FFF)
  }

  private func peer(_ record: CaptureRecord, _ handle: UInt16) -> DeviceAddress? {
    frames.peer(of: number(record, handle))
  }

  // MARK: Data

  private mutating func entry(_ frame: LinkFrame, _ record: CaptureRecord) -> TrafficEntry {
    var entry = Self.entry(record, "", frame.peer)
    entry.direction = frame.isSent ? .sent : .received
    switch frame.channel {
    case .attribute(let bearer): describe(frame, bearer, in: &entry)
    case .signalling: entry.text = SignallingWords.title(frame.octets)
    case .security: entry.text = SecurityWords.title(frame.octets)
    }
    return entry
  }

  private mutating func describe(_ frame: LinkFrame, _ bearer: Int, in entry: inout TrafficEntry) {
    guard let first = frame.octets.first else { return entry.text = "an empty packet of ATT" }
    entry.opcode = first
    let opcode = ATTOpcode(rawValue: first)
    entry.text = opcode.title
    guard let pdu = try? ATTPDU(decoding: frame.octets) else {
      entry.text += ", malformed"
      entry.value = Array(frame.octets.dropFirst())
      return
    }
    let words = ATTWords(pdu)
    entry.handle = words.handle
    entry.value = words.value.map { Array($0) }
    if let detail = words.detail { entry.text += " \(detail)" }
    let isFromServer = [.response, .notification, .indication].contains(opcode.kind)
    let server: AttributeTypes.Server? =
      frame.isSent == isFromServer ? .machine : frame.peer.map { .device($0) }
    switch opcode.kind {
    case .request:
      guard questions.count < Self.maximumQuestions else { return questions = [:] }
      questions[Question(link: frame.link, bearer: bearer, isSent: frame.isSent)] = frame.octets
    case .response:
      // The answer to the other side's request.
      let asked = questions.removeValue(forKey: Question(link: frame.link, bearer: bearer, isSent: !frame.isSent))
      guard let asked, let request = try? ATTPDU(decoding: asked) else { break }
      entry.handle = entry.handle ?? ATTWords(request).handle
      if let server { types.answered(request, pdu, by: server) }
    default: break
    }
    if let handle = entry.handle, let server { entry.attribute = types.type(of: handle, at: server) }
  }
}
