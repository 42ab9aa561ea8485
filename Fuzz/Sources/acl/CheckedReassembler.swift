import Fuzzing
import HCI

/// An `ACLReassembler` whose outputs are compared with the octets that came.
struct CheckedReassembler {
  private var reassembler = ACLReassembler()
  /// The octets of the frame that is not whole.
  private var partial: [UInt8] = []

  mutating func receive(_ packet: ACLDataPacket) {
    let output = reassembler.receive(packet)
    let expected = expect(packet)
    let isExpected =
      output.faults == expected.faults && output.frame?.channel == expected.frame?.channel
      && areEqual(output.frame?.payload ?? [], expected.frame?.payload ?? [])
    invariant(isExpected, "\(packet) gives \(output), not \(expected)")
  }

  private mutating func expect(_ packet: ACLDataPacket) -> ACLReassembler.Output {
    var output = ACLReassembler.Output()
    guard !packet.data.isEmpty else { return output }
    if packet.boundary == 1, partial.isEmpty {
      output.faults = [.continuation]
      return output
    }
    if packet.boundary != 1, !partial.isEmpty {
      output.faults = [.incomplete]
      partial = []
    }
    partial += packet.data
    guard partial.count >= 4 else { return output }
    let excess = partial.count - 4 - (Int(partial[0]) | Int(partial[1]) << 8)
    guard excess >= 0 else { return output }
    if excess > 0 {
      output.faults.append(.tooLong)
    } else {
      let channel = UInt16(partial[2]) | UInt16(partial[3]) << 8
      output.frame = L2CAPFrame(channel: channel, payload: Array(partial.dropFirst(4)))
    }
    partial = []
    return output
  }

  /// No more octets are held than those of the frame that is not whole.
  func measure() {
    var held = 0
    for child in Mirror(reflecting: reassembler).children {
      if let octets = child.value as? ArraySlice<UInt8> { held += octets.count }
      if let octets = child.value as? [UInt8] { held += octets.count }
    }
    invariant(held <= partial.count, "\(held) octets are held for a frame of which \(partial.count) came")
  }
}
