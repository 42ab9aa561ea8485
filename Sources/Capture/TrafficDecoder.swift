import ATT
import Bluetooth
import HCI

/// The content of a packet of a recording, for people.
public struct TrafficEntry: Hashable, Sendable {
  /// Where it went.
  public enum Direction: Hashable, Sendable {
    /// To the device.
    case sent
    /// From the device.
    case received
    /// The packet is of the adapter.
    case none
  }

  /// When it passed, in microseconds since the epoch.
  public var time: Int64
  /// The number of the adapter; `CaptureRecord.noAdapter` for a note.
  public var adapter: UInt16
  /// The device; nil for what is of none, and on links that were there before the recording.
  public var peer: DeviceAddress?
  /// Where it went.
  public var direction: Direction
  /// The content: "Read Request", "connected as central, interval 30 ms".
  public var text: String
  /// The attribute that it is about; nil if it is about none or several.
  public var handle: UInt16?
  /// The value that it carries.
  public var value: [UInt8]?
  /// Whether it is a note of the daemon.
  public var isNote = false
}

/// Reads a recording packet by packet: the events of links, and ATT. It remembers which device a link is with, puts
/// together what came in pieces, and says to which attribute a response belongs.
///
/// | Input                                  | What comes out                                                        |
/// |----------------------------------------|-----------------------------------------------------------------------|
/// | a link came up, changed or ended       | that, with the device                                                 |
/// | a piece of data                        | nothing, or the ATT packet that it completes                          |
/// | an ATT request                         | it; its handle is remembered for the response                         |
/// | an advertising report                  | nothing                                                               |
/// | a note                                 | its text                                                              |
/// | a controller appeared, has power, …    | that                                                                  |
public struct TrafficDecoder: Sendable {
  /// A link of an adapter.
  private struct LinkNumber: Hashable {
    let adapter: UInt16
    let handle: UInt16
  }

  private struct Link {
    var peer: DeviceAddress?
    /// The pieces of a packet of L2CAP so far, by direction: sent, received.
    var pieces: [[UInt8]] = [[], []]
    /// The attributes of the requests that have no response yet: of ours, of the device's.
    var requests: [UInt16?] = [nil, nil]
  }

  /// How many links are remembered; no controller has so many.
  private static let mostLinks = 256
  /// The longest packet of L2CAP, in octets.
  private static let longest = 4 + 65_535
  private static let attributeChannel: UInt16 = 4
  private var links: [LinkNumber: Link] = [:]

  /// Begins with no link known.
  public init() {}

  /// The entry of a packet; nil if the packet has nothing for people.
  public mutating func decode(_ record: CaptureRecord) -> TrafficEntry? {
    let packet = record.packet
    switch packet.kind {
    case .event: return event(packet.octets, record)
    case .sentACL, .receivedACL: return data(packet.octets[...], isSent: packet.kind == .sentACL, record)
    case .userLogging:
      guard let note = Annotation(packet) else { return nil }
      var entry = Self.entry(record, note.text)
      entry.isNote = true
      return entry
    case .openIndex: return Self.entry(record, "the adapter has power")
    case .closeIndex:
      links = links.filter { $0.key.adapter != record.adapter }
      return Self.entry(record, "the adapter has no power")
    case .newIndex: return Self.entry(record, "the adapter is there")
    case .deletedIndex: return Self.entry(record, "the adapter is gone")
    default: return nil
    }
  }

  private static func entry(_ record: CaptureRecord, _ text: String, _ peer: DeviceAddress? = nil) -> TrafficEntry {
    TrafficEntry(time: record.time, adapter: record.adapter, peer: peer, direction: .none, text: text)
  }

  // MARK: Events

  private mutating func event(_ octets: [UInt8], _ record: CaptureRecord) -> TrafficEntry? {
    guard octets.count >= 2,
      let event = try? HCIEvent(decoding: EventPacket(code: octets[0], parameters: Array(octets.dropFirst(2))))
    else { return nil }
    switch event {
    case .leConnectionComplete(let event):
      return connected(event.status, event.handle, event.role, event.peer, event.interval, record)
    case .leEnhancedConnectionComplete(let event):
      return connected(event.status, event.handle, event.role, event.peer, event.interval, record)
    case .disconnectionComplete(let event):
      let link = links.removeValue(forKey: number(record, event.handle))
      return Self.entry(record, "disconnected: \(event.reason)", link?.peer)
    case .encryptionChange(let event):
      let text =
        event.status == .success
        ? event.mode == 0 ? "not encrypted any more" : "encrypted" : "encryption failed: \(event.status)"
      return Self.entry(record, text, peer(record, event.handle))
    case .leConnectionUpdateComplete(let event):
      let interval = Self.milliseconds(event.interval)
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
    case .lePHYUpdateComplete(let event):
      return Self.entry(
        record, "PHY: sends on \(Self.phy(event.tx)), receives on \(Self.phy(event.rx))", peer(record, event.handle))
    case .leDataLengthChange(let event):
      return Self.entry(
        record, "packets of up to \(event.maximumTxOctets) octets sent, \(event.maximumRxOctets) received",
        peer(record, event.handle))
    default: return nil
    }
  }

  private mutating func connected(
    _ status: HCIStatus, _ handle: UInt16, _ role: UInt8, _ peer: HCIAddress, _ interval: UInt16,
    _ record: CaptureRecord
  ) -> TrafficEntry {
    guard status == .success else { return Self.entry(record, "connecting failed: \(status)", peer.device) }
    if links.count < Self.mostLinks { links[number(record, handle)] = Link(peer: peer.device) }
    let role = role == 0 ? "central" : "peripheral"
    return Self.entry(record, "connected as \(role), interval \(Self.milliseconds(interval)) ms", peer.device)
  }

  /// Units of 1.25 ms: "30", "7.5", "48.75".
  private static func milliseconds(_ units: UInt16) -> String {
    let hundredths = Int(units) * 125
    let (whole, rest) = (hundredths / 100, hundredths % 100)
    return rest == 0 ? "\(whole)" : "\(whole).\(rest % 10 == 0 ? "\(rest / 10)" : rest < 10 ? "0\(rest)" : "\(rest)")"
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

  private func peer(_ record: CaptureRecord, _ handle: UInt16) -> DeviceAddress? { links[number(record, handle)]?.peer }

  // MARK: Data

  private mutating func data(_ octets: ArraySlice<UInt8>, isSent: Bool, _ record: CaptureRecord) -> TrafficEntry? {
    guard let header = octets.little16(at: 0), octets.count >= 4 else { return nil }
    let number = number(record, header)
    // Links that were there before the recording are known by their data.
    guard links[number] != nil || links.count < Self.mostLinks else { return nil }
    var link = links[number] ?? Link()
    defer { links[number] = link }
    let side = isSent ? 0 : 1
    let isFurther = header >> 12 & 3 == 1
    // Whose beginning is missing cannot be read.
    guard !isFurther || !link.pieces[side].isEmpty else { return nil }
    if !isFurther { link.pieces[side] = [] }
    link.pieces[side] += octets.dropFirst(4)
    let frame = link.pieces[side][...]
    guard let length = frame.little16(at: 0) else { return nil }
    guard frame.count >= 4 + Int(length) || frame.count > Self.longest else { return nil }
    link.pieces[side] = []
    guard frame.little16(at: 2) == Self.attributeChannel else { return nil }
    return attribute(Array(frame.dropFirst(4).prefix(Int(length))), isSent, &link, record)
  }

  private func attribute(
    _ packet: [UInt8], _ isSent: Bool, _ link: inout Link, _ record: CaptureRecord
  ) -> TrafficEntry? {
    guard let first = packet.first else { return nil }
    let opcode = ATTOpcode(rawValue: first)
    var entry = Self.entry(record, opcode.title, link.peer)
    entry.direction = isSent ? .sent : .received
    guard let pdu = try? ATTPDU(decoding: packet) else {
      entry.text += ", which is not as it must be"
      entry.value = Array(packet.dropFirst())
      return entry
    }
    let words = ATTWords(pdu)
    entry.handle = words.handle
    entry.value = words.value.map { Array($0) }
    if let detail = words.detail { entry.text += " \(detail)" }
    switch opcode.kind {
    case .request: link.requests[isSent ? 0 : 1] = words.handle
    case .response:
      // The answer to a request of the other side.
      let request = isSent ? 1 : 0
      entry.handle = entry.handle ?? link.requests[request]
      link.requests[request] = nil
    default: break
    }
    return entry
  }
}
