import HCI

/// Reassembles a link's frames from its ACL data packets (Core 5.4, Vol 3, Part A, 7.2.2).
///
/// | State   | Input                        | Output, next state                      |
/// |---------|------------------------------|-----------------------------------------|
/// | idle    | a first fragment             | the frame if it is whole: idle; else partial |
/// | idle    | a continuation               | the fault `.continuation`; idle         |
/// | partial | a continuation               | the frame if it is whole: idle; else partial |
/// | partial | more than the header says    | the fault `.tooLong`; idle              |
/// | partial | a first fragment             | the fault `.incomplete`, then as in idle |
///
/// The state is a link's, and ends with it. At most one frame is buffered, 65,539 octets.
package struct ACLReassembler {
  /// The reason for dropping octets.
  package enum Fault: Hashable, Sendable {
    /// A continuation of no frame.
    case continuation
    /// A frame without its end.
    case incomplete
    /// More octets than the frame's header says.
    case tooLong
  }

  /// The frame completed by a packet, with faults.
  package struct Output: Hashable, Sendable {
    /// The completed frame.
    package var frame: L2CAPFrame?
    /// The reasons for dropping octets, at most two.
    package var faults: [Fault] = []

    package init(frame: L2CAPFrame? = nil, faults: [Fault] = []) {
      self.frame = frame
      self.faults = faults
    }
  }

  private var buffer: ArraySlice<UInt8> = []

  package init() {}

  package mutating func receive(_ packet: ACLDataPacket) -> Output {
    var output = Output()
    guard !packet.data.isEmpty else { return output }
    let isFirst = packet.boundary != 1
    guard isFirst || !buffer.isEmpty else { return Output(faults: [.continuation]) }
    if isFirst, !buffer.isEmpty {
      output.faults.append(.incomplete)
      buffer = []
    }
    if !isFirst { buffer += packet.data }
    // Usually a frame is one packet, of which nothing is stored.
    let octets = isFirst ? packet.data : buffer
    guard let length = L2CAPFrame.length(of: octets), octets.count >= length else {
      if isFirst { buffer = octets }
      return output
    }
    if !isFirst { buffer = [] }
    if octets.count > length {
      output.faults.append(.tooLong)
    } else {
      output.frame = L2CAPFrame(whole: octets)
    }
    return output
  }
}
