import Bluetooth

/// Reads btsnoop: a header of 16 octets, and for each packet one of 24 octets and the packet.
///
/// | State     | Input                        | Effect                                           |
/// |-----------|------------------------------|--------------------------------------------------|
/// | beginning | the 16 octets of the header  | → reading, or an error if it is another format   |
/// | reading   | a whole packet               | it is given out, unless it is none of HCI        |
/// | reading   | a packet beyond the longest  | an error                                         |
/// | any       | less than that               | it waits for the rest                            |
struct BTSnoopReader: RecordingForm {
  /// The packets' form (datalink type).
  private enum Datalink: UInt32 {
    /// Two bits in the flags give direction and kind.
    case bare = 1001
    /// An octet before the packet gives its kind, and a bit in the flags the direction: Android's.
    case h4 = 1002
    /// The flags are the adapter and the kind: Linux's.
    case monitor = 2001
  }

  private enum State {
    case beginning
    case reading(Datalink)
  }

  private static let name = Array("btsnoop\0".utf8)
  private static let headerLength = 16
  private var octets = ReceivedOctets()
  private var state = State.beginning

  static func recognises(_ start: ArraySlice<UInt8>) -> Bool { start.starts(with: name) }

  var unreadCount: Int { octets.rest.count }

  mutating func append(_ octets: ArraySlice<UInt8>) { self.octets.append(octets) }

  mutating func next() throws(RecordingProblem) -> CaptureRecord? {
    while true {
      switch state {
      case .beginning:
        guard octets.rest.count >= Self.headerLength else { return nil }
        state = .reading(try datalink())
        octets.drop(Self.headerLength)
      case .reading(let datalink):
        let rest = octets.rest
        guard let length = rest.big(4, at: 0), let included = rest.big(4, at: 4), let flags = rest.big(4, at: 8),
          let lost = rest.big(4, at: 12), let time = rest.big(8, at: 16)
        else { return nil }
        guard included <= RecordedPacket.longest else { throw .tooLong(Int(clamping: included)) }
        guard rest.count >= BTSnoop.headerLength + Int(included) else { return nil }
        let content = rest.dropFirst(BTSnoop.headerLength).prefix(Int(included))
        octets.drop(BTSnoop.headerLength + Int(included))
        guard let found = Self.packet(content, datalink, UInt32(truncatingIfNeeded: flags)) else { continue }
        var packet = found.packet
        packet.length += Int(clamping: length > included ? length - included : 0)
        return CaptureRecord(
          adapter: found.adapter, packet: packet, time: Int64(truncatingIfNeeded: time) &- BTSnoop.epoch,
          lost: UInt32(truncatingIfNeeded: lost))
      }
    }
  }

  private func datalink() throws(RecordingProblem) -> Datalink {
    let header = octets.rest
    guard Self.recognises(header), let version = header.number32(at: 8, isLittle: false),
      let type = header.number32(at: 12, isLittle: false)
    else { throw .unknownForm }
    guard version == 1 else { throw .unsupported("btsnoop of version \(version)") }
    guard let datalink = Datalink(rawValue: type) else { throw .unsupported("btsnoop of datalink type \(type)") }
    return datalink
  }

  private static func packet(
    _ octets: ArraySlice<UInt8>, _ datalink: Datalink, _ flags: UInt32
  ) -> (adapter: UInt16, packet: MonitorPacket)? {
    switch datalink {
    case .monitor:
      let kind = MonitorPacket.Kind(rawValue: UInt16(truncatingIfNeeded: flags))
      return (UInt16(truncatingIfNeeded: flags >> 16), MonitorPacket(kind, Array(octets)))
    case .h4: return H4.packet(octets, isReceived: flags & 1 == 1).map { (0, $0) }
    case .bare:
      let kinds: [MonitorPacket.Kind] = [.sentACL, .receivedACL, .command, .event]
      return (0, MonitorPacket(kinds[Int(flags & 3)], Array(octets)))
    }
  }
}
