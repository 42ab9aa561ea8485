import HCI

/// Puts the frames of one link together from its ACL data packets (Core 5.4, Vol 3, Part A, 7.2.2).
///
/// | State   | Input                        | Output, next state                      |
/// |---------|------------------------------|-----------------------------------------|
/// | idle    | a first fragment             | the frame if it is whole: idle; else partial |
/// | idle    | a continuation               | `.dropped(.continuation)`; idle         |
/// | partial | a continuation               | the frame if it is whole: idle; else partial |
/// | partial | more than the header says    | `.dropped(.tooLong)`; idle              |
/// | partial | a first fragment             | `.dropped(.incomplete)`, then as in idle |
///
/// The state is a link's, and ends with it. At most one frame is buffered, 65,539 octets.
package struct ACLReassembler {
  /// Why octets were dropped.
  package enum Fault: Hashable, Sendable {
    /// A continuation of no frame.
    case continuation
    /// A frame whose end did not come.
    case incomplete
    /// More octets than the frame's header says.
    case tooLong
  }

  package enum Output: Hashable, Sendable {
    case frame(L2CAPFrame)
    case dropped(Fault)
  }

  private var buffer: [UInt8] = []

  package init() {}

  package mutating func receive(_ packet: ACLDataPacket) -> [Output] {
    guard !packet.data.isEmpty else { return [] }
    var outputs: [Output] = []
    if packet.boundary == 1 {
      guard !buffer.isEmpty else { return [.dropped(.continuation)] }
    } else if !buffer.isEmpty {
      outputs.append(.dropped(.incomplete))
      buffer = []
    }
    // Mostly a frame is one packet, whose octets are taken over.
    if buffer.isEmpty { buffer = packet.data } else { buffer += packet.data }
    guard buffer.count >= L2CAPFrame.header else { return outputs }
    let length = L2CAPFrame.header + Int(buffer[0]) + Int(buffer[1]) << 8
    guard buffer.count >= length else { return outputs }
    if buffer.count > length {
      outputs.append(.dropped(.tooLong))
    } else {
      let channel = UInt16(buffer[2]) | UInt16(buffer[3]) << 8
      outputs.append(.frame(L2CAPFrame(channel: channel, payload: Array(buffer[L2CAPFrame.header...]))))
    }
    buffer = []
    return outputs
  }
}
