import Benchmark
import BledRPC
import Bluetooth

/// Messages of the socket, as lines.
func rpcBenchmarks() {
  let peripheral = "6ba7b810-9dad-11d1-80b4-00c04fd430c8"
  let read = GATTRead.Params(peripheral: peripheral, handle: 42)
  let value = GATTValue.Params(
    peripheral: peripheral, handle: 42, value: HexBytes(Array(repeating: 0xAB, count: 20)), time: 1_763_437_265.123456)
  measure("RPC encode: gatt.read", { read }) { params in
    blackHole(try RPCEncoding.request(GATTRead.self, id: .number(7), params))
  }
  measure("RPC encode: gatt.value, 20", { value }) { params in
    blackHole(try RPCEncoding.notification(GATTValue.self, params))
  }
  measure("RPC decode: gatt.read", { try RPCEncoding.request(GATTRead.self, id: .number(7), read).dropLast() }) {
    line in
    let message = try RPCMessage(line: line)
    blackHole(try message.params(GATTRead.Params.self))
  }
  measure("RPC decode: gatt.value, 20", { try RPCEncoding.notification(GATTValue.self, value).dropLast() }) { line in
    let message = try RPCMessage(line: line)
    blackHole(try message.params(GATTValue.Params.self))
  }
}
