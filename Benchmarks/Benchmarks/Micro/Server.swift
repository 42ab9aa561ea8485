import Benchmark
import Bluetooth
import GATT

/// The server machine: a request in, the response as an action out.
func serverBenchmarks() {
  struct State {
    var database = AttributeDatabase()
    var connection = GATTConnection(maximumMTU: 517)
    var actions: [GATTAction] = []
    let packet: [UInt8]

    init(_ packet: [UInt8]) throws {
      self.packet = packet
      _ = try database.add(
        ServiceDefinition(
          uuid: 0xFFF0,
          characteristics: [
            CharacteristicDefinition(
              uuid: 0xFFF1, properties: [.read, .write, .writeWithoutResponse],
              value: .stored(Array(repeating: 1, count: 20))),
            CharacteristicDefinition(
              uuid: 0xFFF2, properties: [.read, .write], value: .stored(Array(repeating: 2, count: 512))),
            CharacteristicDefinition(uuid: 0xFFF3, properties: [.notify], value: .stored([])),
          ]))
      receive([0x02, 0x05, 0x02])
      receive([0x12, 8, 0, 1, 0])
    }

    mutating func receive(_ packet: [UInt8]) {
      actions.removeAll(keepingCapacity: true)
      connection.received(packet, now: .zero, database: &database, actions: &actions)
    }
  }

  let value = [UInt8](repeating: 7, count: 20)
  let requests: [(String, [UInt8])] = [
    ("read, 20", [0x0A, 3, 0]), ("read, 512", [0x0A, 5, 0]), ("write, 20", [0x12, 3, 0] + value),
    ("write command, 20", [0x52, 3, 0] + value), ("read by group type", [0x10, 1, 0, 0xFF, 0xFF, 0, 0x28]),
    ("read by type", [0x08, 1, 0, 0xFF, 0xFF, 3, 0x28]), ("find information", [0x04, 1, 0, 0xFF, 0xFF]),
  ]
  for (name, packet) in requests {
    measure("GATT server: \(name)", { try State(packet) }) { state in
      state.receive(state.packet)
      blackHole(state.actions)
    }
  }
  measure("GATT server: notify, 20", { try State(value) }) { state in
    state.actions.removeAll(keepingCapacity: true)
    blackHole(state.connection.notify(state.packet, of: 7, actions: &state.actions))
  }
}
