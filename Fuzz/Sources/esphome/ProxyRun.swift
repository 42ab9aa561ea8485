import Adapter
import BledConnection
import BledRPC
import Bluetooth
import ESPHome
import Fuzzing
import SessionFuzzing
import SessionTestSupport

/// A proxy between clients and a bled that are both driven by the input.
final class ProxyRun {
  /// The messages that a proxy knows.
  private static let types: [UInt16] = [
    1, 3, 5, 6, 7, 8, 9, 11, 66, 68, 70, 73, 75, 76, 77, 78, 80, 87, 127, 145, 149,
  ]

  private let key: [UInt8]?
  private let daemon = DrivenDaemon()
  private let proxy: Proxy
  private var clients: [FuzzClient] = []

  init(isEncrypted: Bool) {
    key = isEncrypted ? [UInt8](repeating: 7, count: 32) : nil
    daemon.scripted.adapters = [Self.adapter("on")]
    proxy = Proxy(
      Proxy.Settings(name: "fuzz", friendlyName: "Fuzz", key: key, connections: 3), daemon.scripted, daemon.clock)
    proxy.start()
    daemon.settle()
  }

  private static func adapter(_ state: Word<AdapterCondition>) -> AdapterDescription {
    AdapterDescription(
      adapter: "hci0", kind: "simulated", address: "02:00:00:00:00:01", addressType: "public", name: "fuzz",
      state: state, problem: nil, scanning: false, advertising: 0, links: 0)
  }

  func step(_ input: inout FuzzInput) {
    let choice = input.octet()
    switch choice & 15 {
    case 0: connect()
    case 1: client(&input)?.receive(input.packet())
    case 2: client(&input)?.greet()
    case 3...8:
      let type = Self.types[input.number(below: Self.types.count)]
      client(&input)?.send(type: type, input.packet())
    case 9: client(&input)?.send(type: input.word(), input.filler())
    case 10: daemon.clock.advance(by: .milliseconds(Int64(input.word())))
    case 11: notify(&input)
    case 12: daemon.failOrRecover()
    case 13: client(&input)?.client?.ended()
    case 14: daemon.scripted.leaveOrReturn()
    default: client(&input)?.unsent = Int(input.word()) << 5
    }
    // The answers of bled may come later.
    if choice & 128 == 0 { daemon.settle() }
  }

  private func connect() {
    let client = FuzzClient(key: key)
    client.client = proxy.accept(client)
    clients.append(client)
    if clients.count > 40 { leave(clients.removeFirst()) }
  }

  /// Ends a client, which holds its half of the proxy, and is held by it.
  private func leave(_ client: FuzzClient) {
    client.client?.ended()
    client.client = nil
  }

  private func client(_ input: inout FuzzInput) -> FuzzClient? {
    clients.isEmpty ? nil : clients[clients.count - 1 - input.number(below: clients.count)]
  }

  private func notify(_ input: inout FuzzInput) {
    switch input.octet() & 3 {
    case 0: daemon.report(DrivenDaemon.peripheral, &input)
    case 1:
      try? daemon.scripted.newest?.notify(AdapterChanged.self, Self.adapter(input.octet() & 1 == 0 ? "on" : "off"))
    default: daemon.tell(&input)
    }
  }

  /// All clients go: nothing of them is left.
  func end() {
    daemon.settle()
    for client in clients { client.client?.ended() }
    daemon.settle()
    invariant(clients.allSatisfy { $0.client == nil || $0.isClosed }, "a client is left")
    for client in clients { leave(client) }
    invariant(proxy.clientCount == 0, "a client is counted")
    let isLeft = daemon.scripted.sessions.contains { !$0.isClosed && $0.name.hasPrefix("Home Assistant proxy for") }
    invariant(!isLeft, "a session is left")
    proxy.close()
  }
}
