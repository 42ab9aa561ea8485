import Adapter
import Bluetooth
import HCI

/// A device's answer to our request for a channel, read off the signalling on its link (Core 5.4, Vol 3, Part A, 4):
/// the kernel reports only the refusal itself, and of a channel's sizes only the MTU.
///
/// | State    | Input                                          | Effect                                    |
/// |----------|------------------------------------------------|-------------------------------------------|
/// | (none)   | we ask for a channel to the number             | its identifier, our piece → asked         |
/// | asked    | the device's answer, with that identifier      | the result, the device's piece → answered |
/// | asked    | the device rejects the command                 | → answered                                |
/// | any      | we ask again, on a link that is encrypted now  | the new identifier → asked                |
///
/// There are no actions: `answer` and `pieces` are read once the kernel has reported the outcome.
struct ChannelAnswer {
  enum Answer: Equatable {
    /// The result of a connection response (4.23, 4.26).
    case result(UInt16)
    /// L2CAP_COMMAND_REJECT_RSP: the device does not know the request (4.1).
    case rejected
  }

  /// The offsets of members in the requests and responses (4.22, 4.23, 4.25, 4.26).
  private struct Layout {
    let request: UInt8
    let response: UInt8
    let ourChannel: Int
    let ourPiece: Int
    let theirPiece: Int
    let result: Int

    static let leCreditBased = Layout(
      request: 0x14, response: 0x15, ourChannel: 15, ourPiece: 19, theirPiece: 17, result: 21)
    static let enhanced = Layout(
      request: 0x17, response: 0x18, ourChannel: 21, ourPiece: 17, theirPiece: 15, result: 19)
  }

  private struct Request {
    let layout: Layout
    let identifier: UInt8
    let ourPiece: Int
  }

  private static let reject: UInt8 = 0x01

  let handle: UInt16
  let psm: UInt16
  /// Our number (CID) of the channel, to distinguish it from others to the same PSM; nil if unknown.
  var channel: UInt16?
  private var request: Request?
  private(set) var answer: Answer?
  /// The longest pieces, if the device has opened the channel.
  private(set) var pieces: ChannelPieces?

  init(handle: UInt16, psm: UInt16, channel: UInt16? = nil) {
    self.handle = handle
    self.psm = psm
    self.channel = channel
  }

  /// Handles a packet of a raw socket: its type, and ACL data of channel 5 in either direction.
  mutating func handle(_ packet: [UInt8]) {
    // Signalling fits into the first packet of any controller, so a continuation is not signalling.
    guard packet.count >= 13, packet[0] == 0x02, number(packet, 7) == 5, let header = number(packet, 1),
      header & 0x0FFF == handle
    else { return }
    let isOurs = header >> 12 & 3 == 0  // Packet_Boundary_Flag (Vol 4, Part E, 5.4.2)
    if isOurs { asked(packet) } else { answered(packet) }
  }

  private mutating func asked(_ packet: [UInt8]) {
    guard let layout = [Layout.leCreditBased, .enhanced].first(where: { $0.request == packet[9] }),
      number(packet, 13) == psm, let piece = number(packet, layout.ourPiece),
      let asking = number(packet, layout.ourChannel), channel.map({ $0 == asking }) ?? true
    else { return }
    request = Request(layout: layout, identifier: packet[10], ourPiece: Int(piece))
    answer = nil
    pieces = nil
  }

  private mutating func answered(_ packet: [UInt8]) {
    guard let request, packet[10] == request.identifier else { return }
    if packet[9] == Self.reject { answer = .rejected }
    guard packet[9] == request.layout.response, let result = number(packet, request.layout.result) else { return }
    answer = .result(result)
    guard result == 0, let piece = number(packet, request.layout.theirPiece) else { return }
    // The kernel's own is always in range, and the kernel refuses a device's that is not.
    pieces = ChannelPieces(receive: request.ourPiece, send: Int(piece))
  }

  private func number(_ packet: [UInt8], _ offset: Int) -> UInt16? {
    guard packet.count >= offset + 2 else { return nil }
    return UInt16(packet[offset]) | UInt16(packet[offset + 1]) << 8
  }
}

extension ChannelAnswer.Answer {
  /// True if the device requires encryption or authentication: the kernel provides it by itself, and pairs if no bond
  /// suffices.
  var wantsSecurity: Bool { self == .result(0x0005) || self == .result(0x0008) }
}

extension ChannelAnswer {
  /// The reason why the device refused a channel of this mode, and the remedy.
  func refusal(_ mode: ChannelMode) -> BluetoothError {
    let refusal: ChannelRefusal =
      switch answer {
      case .result(let result): .result(result)
      case .rejected: .rejected
      case nil: .unknown
      }
    return refusal.error(psm, mode)
  }
}
