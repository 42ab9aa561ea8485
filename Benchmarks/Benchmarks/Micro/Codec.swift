import ATT
import Benchmark

/// The opcodes of the packet path: each decoded from a packet of its own, and encoded into a buffer with room.
func codecBenchmarks() {
  let value = [UInt8](0..<20)
  let packets: [(String, [UInt8])] = [
    ("read request", [0x0A, 3, 0]), ("read response, 20", [0x0B] + value),
    ("write request, 20", [0x12, 3, 0] + value), ("write command, 20", [0x52, 3, 0] + value),
    ("write response", [0x13]), ("notification, 20", [0x1B, 7, 0] + value),
    ("indication, 20", [0x1D, 7, 0] + value), ("read by type request", [0x08, 1, 0, 0xFF, 0xFF, 3, 0x28]),
  ]
  for (name, packet) in packets {
    measure("ATT decode: \(name)", { packet }) { packet in blackHole(try ATTPDU(decoding: packet)) }
  }
  for (name, packet) in packets {
    measure("ATT encode: \(name)", { (try ATTPDU(decoding: packet), [UInt8]()) }) { state in
      state.1.removeAll(keepingCapacity: true)
      state.0.encode(into: &state.1)
      blackHole(state.1)
    }
  }
}
