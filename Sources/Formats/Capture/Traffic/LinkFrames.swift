import Bluetooth
import HCI

/// An adapter's link in a recording.
struct LinkNumber: Hashable, Sendable {
  let adapter: UInt16
  let handle: UInt16
}

/// A link's whole packet above L2CAP.
struct LinkFrame: Hashable, Sendable {
  /// Its channel.
  enum Channel: Hashable, Sendable {
    /// ATT: 0 is the fixed channel, others are the link's enhanced bearers.
    case attribute(bearer: Int)
    /// Signalling packets of L2CAP on LE links (Core 5.4, Vol 3, Part A, 4).
    case signalling
    /// The Security Manager's.
    case security
  }

  var link: LinkNumber
  /// The device; nil on links older than the recording.
  var peer: DeviceAddress?
  var isSent: Bool
  var channel: Channel
  var octets: [UInt8]
}

/// Puts the data of links together, packet by packet.
///
/// | Input                              | Effect                                                            |
/// |------------------------------------|-------------------------------------------------------------------|
/// | an LE link was established         | its device is remembered                                          |
/// | a link of the classic transport    | its data is passed over                                           |
/// | data of a link that is not known   | it is taken for an LE link that was there before the recording    |
/// | the first piece of a packet        | an unfinished one in that direction is dropped                    |
/// | the piece that completes a packet  | the packet is given out if it is of ATT, signalling or security   |
/// | ATT over a credit-based channel    | the same once it is complete; signalling shows which channels are |
/// | a link ended, an adapter went away | unfinished frames are dropped                                     |
struct LinkFrames: Sendable {
  private struct Link {
    var peer: DeviceAddress?
    var isClassic = false
    /// The pieces of an L2CAP packet so far, by direction: sent, received.
    var pieces: [[UInt8]] = [[], []]
    var bearers = BearerChannels()
  }

  /// Controllers have fewer links.
  private static let maximumLinks = 256
  /// The longest packet of L2CAP, in octets.
  private static let longest = 4 + 65_535
  private var links: [LinkNumber: Link] = [:]

  private enum Fixed {
    static let attributes: UInt16 = 4
    static let signalling: UInt16 = 5
    static let security: UInt16 = 6
  }

  /// A link's device; nil if unknown.
  func peer(of link: LinkNumber) -> DeviceAddress? { links[link]?.peer }

  /// A link was established.
  mutating func began(_ link: LinkNumber, peer: DeviceAddress?, isClassic: Bool = false) {
    guard links.count < Self.maximumLinks || links[link] != nil else { return }
    links[link] = Link(peer: peer, isClassic: isClassic)
  }

  /// A link ended.
  /// - Returns: the device at its other end, if it is known.
  mutating func ended(_ link: LinkNumber) -> DeviceAddress? { links.removeValue(forKey: link)?.peer }

  /// An adapter lost its links.
  mutating func reset(_ adapter: UInt16) { links = links.filter { $0.key.adapter != adapter } }

  /// Adds a packet of data (Core 5.4, Vol 4, Part E, 5.4.2).
  /// - Returns: the completed packet of a channel.
  mutating func receive(_ data: ArraySlice<UInt8>, isSent: Bool, adapter: UInt16) -> LinkFrame? {
    guard let header = data.little16(at: 0), data.count >= 4 else { return nil }
    let number = LinkNumber(adapter: adapter, handle: header & 0x0FFF)
    guard links[number] != nil || links.count < Self.maximumLinks else { return nil }
    var link = links[number] ?? Link()
    // Its value is changed in place below.
    links[number] = nil
    defer { links[number] = link }
    guard !link.isClassic else { return nil }
    let side = isSent ? 0 : 1
    let isFurther = header >> 12 & 3 == 1
    // Without its beginning a packet cannot be read.
    guard !isFurther || !link.pieces[side].isEmpty else { return nil }
    if !isFurther { link.pieces[side] = [] }
    link.pieces[side] += data.dropFirst(4)
    let packet = link.pieces[side][...]
    guard let length = packet.little16(at: 0), let channel = packet.little16(at: 2) else { return nil }
    guard packet.count >= 4 + Int(length) || packet.count > Self.longest else { return nil }
    link.pieces[side] = []
    let content = packet.dropFirst(4).prefix(Int(length))
    func frame(_ channel: LinkFrame.Channel, _ octets: ArraySlice<UInt8>) -> LinkFrame {
      LinkFrame(link: number, peer: link.peer, isSent: isSent, channel: channel, octets: Array(octets))
    }
    switch channel {
    case Fixed.attributes: return frame(.attribute(bearer: 0), content)
    case Fixed.security: return frame(.security, content)
    case Fixed.signalling:
      link.bearers.receive(signalling: content, isSent: isSent)
      return frame(.signalling, content)
    default:
      guard let (bearer, whole) = link.bearers.receive(content, on: channel, isSent: isSent) else { return nil }
      return frame(.attribute(bearer: bearer), whole[...])
    }
  }
}
