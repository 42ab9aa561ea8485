import Bluetooth
import HCI

/// The name and content of an HCI command or event, for people.
struct HCIWords {
  /// The name; for an event that answers a command, with the command's name, and the status if it failed.
  var text: String
  /// The opcode of the command, or of the answered one.
  var command: Opcode?
  /// The event's code.
  var event: UInt8?
  /// The link's handle; nil: none, or unknown.
  var link: ConnectionHandle?
  /// The parameters missing in the text.
  var value: [UInt8]

  /// - Returns: nil if the packet ends before its opcode.
  init?(command octets: [UInt8]) {
    guard let number = octets[...].little16(at: 0) else { return nil }
    let opcode = Opcode(rawValue: number)
    text = opcode.title
    command = opcode
    value = Array(octets.dropFirst(3))
    if KnownCommands.type(of: opcode) is any LinkCommand.Type { link = value[...].little16(at: 0) }
  }

  init(_ packet: EventPacket) {
    event = packet.code
    let subevent = packet.code == HCIEvent.leMeta ? packet.parameters.first : nil
    text = subevent.map(Self.lowEnergyTitle) ?? Self.title(packet.code)
    value = subevent == nil ? packet.parameters : Array(packet.parameters.dropFirst())
    switch try? HCIEvent(decoding: packet) {
    case .commandComplete(let complete): answer(complete.opcode, complete.returnParameters)
    case .commandStatus(let status): answer(status.opcode, [status.status.rawValue])
    case .numberOfCompletedPackets(let event) where event.links.count == 1: link = event.links[0].handle
    case .encryptionKeyRefreshComplete(let event): link = event.handle
    case .readRemoteVersionInformationComplete(let event): link = event.handle
    case .leReadRemoteFeaturesComplete(let event): link = event.handle
    case .leLongTermKeyRequest(let event): link = event.handle
    case .leRemoteConnectionParameterRequest(let event): link = event.handle
    case nil: text += ", malformed"
    default: break
    }
    if let words = subevent.flatMap({ ChannelSoundingWords($0, value) }) {
      text += words.text
      link = words.link
    }
    if let words = subevent.flatMap({ FeatureWords($0, value) }) {
      text += words.text
      link = words.link
    }
  }

  /// - Parameter parameters: The status first.
  private mutating func answer(_ opcode: Opcode, _ parameters: [UInt8]) {
    // Without a command the event gives credits only.
    guard opcode != .none else { return value = [] }
    command = opcode
    text += ", \(opcode.title)"
    if let status = parameters.first, status != 0 { text += ": \(HCIStatus(rawValue: status))" }
    if let words = FeatureWords(opcode, parameters) { text += words.text }
    value = Array(parameters.dropFirst())
  }

  /// A number, as bleshell writes it.
  static func hex(_ number: some FixedWidthInteger) -> String {
    "0x" + Hex.encode(withUnsafeBytes(of: number.bigEndian) { Array($0) })
  }
}
