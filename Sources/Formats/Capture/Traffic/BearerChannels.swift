import Bluetooth

/// A link's enhanced bearers: credit-based channels opened with EATT's number.
///
/// | Input                          | Effect                                                                |
/// |--------------------------------|-----------------------------------------------------------------------|
/// | a request for channels of EATT | it is remembered                                                      |
/// | the answer to it               | each channel that it grants is a bearer, in both directions           |
/// | a piece of data on a bearer    | the packet of ATT that it completes is given out                      |
/// | a channel was closed           | the bearer is forgotten                                               |
struct BearerChannels: Sendable {
  /// The receiving end of a packet's channel.
  private struct End: Hashable {
    /// The packet is sent by this machine.
    let isSent: Bool
    let channel: UInt16
  }

  private struct Bearer {
    let number: Int
    /// The packet so far, behind its length; nil between packets.
    var waiting: [UInt8]?
    var length = 0
  }

  private struct Request {
    let isSent: Bool
    let identifier: UInt8
    let channels: [UInt16]
  }

  /// The number of EATT (Assigned Numbers, 2.9).
  private static let eatt: UInt16 = 0x0027
  private static let maximumBearers = 64
  private static let maximumRequests = 16
  private var bearers: [End: Bearer] = [:]
  private var requests: [Request] = []
  private var lastNumber = 0

  private enum Code {
    static let disconnectionResponse: UInt8 = 0x07
    static let creditBasedRequest: UInt8 = 0x14
    static let creditBasedResponse: UInt8 = 0x15
    static let enhancedRequest: UInt8 = 0x17
    static let enhancedResponse: UInt8 = 0x18
  }

  /// A signalling packet passed (Core 5.4, Vol 3, Part A, 4.22 to 4.26).
  mutating func receive(signalling packet: ArraySlice<UInt8>, isSent: Bool) {
    guard let code = packet.first, let identifier = packet.dropFirst().first else { return }
    let data = packet.dropFirst(4)
    switch code {
    case Code.creditBasedRequest, Code.enhancedRequest:
      guard data.little16(at: 0) == Self.eatt else { return }
      let channels =
        code == Code.enhancedRequest ? Self.numbers(data.dropFirst(8)) : data.little16(at: 2).map { [$0] } ?? []
      requests.removeAll { $0.isSent == isSent && $0.identifier == identifier }
      if requests.count >= Self.maximumRequests { requests.removeFirst() }
      requests.append(Request(isSent: isSent, identifier: identifier, channels: channels))
    case Code.creditBasedResponse, Code.enhancedResponse:
      guard let index = requests.firstIndex(where: { $0.isSent != isSent && $0.identifier == identifier }) else {
        return
      }
      let request = requests.remove(at: index)
      let granted =
        code == Code.enhancedResponse ? Self.numbers(data.dropFirst(8)) : data.little16(at: 0).map { [$0] } ?? []
      for (ours, theirs) in zip(request.channels, granted) where theirs != 0 {
        open(requester: ours, responder: theirs, isSent: request.isSent)
      }
    case Code.disconnectionResponse:
      // The first channel number is the responder's.
      guard let answering = data.little16(at: 0), let asking = data.little16(at: 2) else { return }
      bearers[End(isSent: !isSent, channel: answering)] = nil
      bearers[End(isSent: isSent, channel: asking)] = nil
    default: break
    }
  }

  private static func numbers(_ list: ArraySlice<UInt8>) -> [UInt16] {
    stride(from: 0, to: list.count, by: 2).compactMap { list.little16(at: $0) }
  }

  private mutating func open(requester: UInt16, responder: UInt16, isSent: Bool) {
    guard bearers.count < Self.maximumBearers else { return }
    lastNumber += 1
    bearers[End(isSent: isSent, channel: responder)] = Bearer(number: lastNumber)
    bearers[End(isSent: !isSent, channel: requester)] = Bearer(number: lastNumber)
  }

  /// A packet on a dynamic channel (Core 5.4, Vol 3, Part A, 3.4.3): the first has two octets for the whole length.
  /// - Returns: the completed ATT packet, with its bearer's number.
  mutating func receive(_ piece: ArraySlice<UInt8>, on channel: UInt16, isSent: Bool) -> (Int, [UInt8])? {
    let end = End(isSent: isSent, channel: channel)
    guard var bearer = bearers.removeValue(forKey: end) else { return nil }
    defer { bearers[end] = bearer }
    if bearer.waiting == nil {
      guard let length = piece.little16(at: 0), length > 0 else { return nil }
      bearer.length = Int(length)
    }
    let whole = (bearer.waiting ?? []) + (bearer.waiting == nil ? piece.dropFirst(2) : piece)
    bearer.waiting = whole.count < bearer.length ? whole : nil
    return bearer.waiting == nil ? (bearer.number, Array(whole.prefix(bearer.length))) : nil
  }
}
