import Adapter
import Bluetooth
import HCI

/// What a device answered when we asked for a channel, read off the signalling on its link (Core 5.4, Vol 3, Part A,
/// 4): the kernel tells only that it refused.
///
/// | State    | Input                                          | What happens                     |
/// |----------|------------------------------------------------|----------------------------------|
/// | (none)   | we ask for a channel to the number             | its identifier is noted → asked  |
/// | asked    | the device's answer, with that identifier      | → answered                       |
/// | asked    | the device rejects the command                 | → answered                       |
/// | any      | we ask again, on a link that is encrypted now  | the new identifier → asked       |
///
/// There are no actions: `answer` is looked at when the kernel has told the outcome.
struct ChannelAnswer {
  enum Answer: Equatable {
    /// The result of a connection response (4.23, 4.26).
    case result(UInt16)
    /// L2CAP_COMMAND_REJECT_RSP: the device does not know the request (4.1).
    case rejected
  }

  private enum Code {
    static let reject: UInt8 = 0x01
    static let requests: Set<UInt8> = [0x14, 0x17]
    static let responses: Set<UInt8> = [0x15, 0x18]
  }

  let handle: UInt16
  let psm: UInt16
  private var identifier: UInt8?
  private(set) var answer: Answer?

  init(handle: UInt16, psm: UInt16) {
    self.handle = handle
    self.psm = psm
  }

  /// A packet of a raw socket: its type, and ACL data of channel 5 in either direction.
  mutating func handle(_ packet: [UInt8]) {
    // Signalling fits into the first packet of any controller, so what continues another is none.
    guard packet.count >= 13, packet[0] == 0x02, number(packet, 7) == 5 else { return }
    let header = number(packet, 1)
    guard header & 0x0FFF == handle else { return }
    let isOurs = header >> 12 & 3 == 0  // Packet_Boundary_Flag (Vol 4, Part E, 5.4.2)
    let parameters = packet[13...]
    if isOurs, Code.requests.contains(packet[9]), parameters.count >= 2, number(packet, 13) == psm {
      identifier = packet[10]
      answer = nil
    } else if !isOurs, packet[10] == identifier {
      if packet[9] == Code.reject { answer = .rejected }
      // After the number (in the old mode), MTU, MPS and credits.
      let offset = packet[9] == 0x15 ? 21 : 19
      if Code.responses.contains(packet[9]), packet.count >= offset + 2 { answer = .result(number(packet, offset)) }
    }
  }

  private func number(_ packet: [UInt8], _ offset: Int) -> UInt16 {
    UInt16(packet[offset]) | UInt16(packet[offset + 1]) << 8
  }
}

extension ChannelAnswer {
  /// Why the device refused a channel of this mode, and what to do.
  func refusal(_ mode: ChannelMode) -> BluetoothError {
    let security = "ask with a higher \"security\", or pair with it"
    return switch answer {
    case .rejected where mode == .enhanced:
      GAPError.notSupported.error("The device has no enhanced channels: leave out \"mode\".")
    case .rejected: GAPError.notSupported.error("The device has no L2CAP channels.")
    case .result(0x0002): failed("it does not listen on PSM \(psm)")
    case .result(0x0004): failed("it has no room for another one: close some, or try again later")
    case .result(0x0005): failed("PSM \(psm) needs an authenticated link: \(security)")
    case .result(0x0006): failed("it does not let this machine use PSM \(psm): allow it there")
    case .result(0x0007): failed("PSM \(psm) needs a longer key: pair with it anew, with LE Secure Connections")
    case .result(0x0008): failed("PSM \(psm) needs an encrypted link: \(security)")
    case .result(0x0009), .result(0x000A): failed("it has the channel's number in use: disconnect, and connect again")
    case .result(0x000B), .result(0x000C): failed("it does not take these parameters: try another \"receiveMTU\"")
    case .result, nil: failed("it does not listen on PSM \(psm), wants more security, or has no room")
    }
  }

  private func failed(_ why: String) -> BluetoothError {
    GAPError.connectionFailed.error("The device refused the channel: \(why).")
  }
}
