import Benchmark
import Bluetooth
import GATT

/// One request of a client that discovers everything, again and again. That it costs the same in a small and in a large
/// database shows that discovery is linear.
func discoveryBenchmarks() {
  struct State {
    private var database = AttributeDatabase()
    private var connection = GATTConnection(maximumMTU: 247)
    private var actions: [GATTAction] = []
    private let opcode: UInt8
    private let type: [UInt8]
    private var start = 1

    init(_ opcode: UInt8, _ type: [UInt8], attributes: Int) throws {
      self.opcode = opcode
      self.type = type
      // 20 attributes each, of which 6 are values.
      for number in 0..<UInt16(attributes / 20) {
        let characteristics = (UInt16(0)..<6).map { index in
          CharacteristicDefinition(
            uuid: BluetoothUUID(0x2A00 + index), properties: [.read, .notify], value: .stored([1]),
            descriptors: index == 0 ? [DescriptorDefinition(uuid: 0x2901, value: .stored([65]))] : [])
        }
        _ = try database.add(ServiceDefinition(uuid: BluetoothUUID(0x1800 + number), characteristics: characteristics))
      }
      connection.received([0x02, 247, 0], now: .zero, database: &database, actions: &actions)
    }

    /// Asks for what comes behind the last answer, or from the beginning.
    mutating func next() {
      let range = [UInt8(start & 0xFF), UInt8(start >> 8), 0xFF, 0xFF]
      actions.removeAll(keepingCapacity: true)
      connection.received([opcode] + range + type, now: .zero, database: &database, actions: &actions)
      guard case .send(_, let answer)? = actions.first, answer.count > 2, answer[0] != 1 else {
        start = 1
        return
      }
      // Find Information gives a handle and a UUID, the others the length of an element; services end behind their
      // start.
      let size = answer[0] == 5 ? 4 : Int(answer[1])
      let last = answer.count - size + (answer[0] == 0x11 ? 2 : 0)
      start = Int(answer[last]) + Int(answer[last + 1]) << 8 + 1
      if start > 0xFFFF { start = 1 }
    }
  }

  let searches: [(String, UInt8, [UInt8])] = [
    ("services", 0x10, [0x00, 0x28]), ("characteristics", 0x08, [0x03, 0x28]), ("descriptors", 0x04, []),
  ]
  for (name, opcode, type) in searches {
    for count in [1_000, 10_000] {
      measure("GATT server: discover \(name), \(count) attributes", { try State(opcode, type, attributes: count) }) {
        $0.next()
      }
    }
  }
}
