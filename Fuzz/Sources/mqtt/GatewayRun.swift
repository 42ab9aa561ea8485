import Adapter
import BledConnection
import BledRPC
import Bluetooth
import FoundationEssentials
import Fuzzing
import MQTTGateway
import SessionFuzzing
import SessionTestSupport

/// A gateway between a broker and a bled that are both driven by the input.
final class GatewayRun {
  private static let configurations = [
    #"{"broker":{"host":"b"},"gateway":"g","commands":["read","write","scan"],"qos":1}"#,
    #"{"broker":{"host":"b"},"gateway":"g","commands":["read"],"publish":{"every":0,"total":5}}"#,
    #"{"broker":{"host":"b"},"gateway":"g","discovery":false}"#,
    """
    {"broker":{"host":"b"},"gateway":"g","commands":["read","write","scan"],"qos":1,
    "devices":[{"address":"C0:DE:00:00:00:04","subscribe":["2A37"]}]}
    """,
  ]
  private static let addresses = ["C0:DE:00:00:00:04", "C0:DE:00:00:00:05", "c0:de:00:00:00:0a", "C0:DE", ""]
  private static let uuids = ["2A37", "180D", "B1ED0002-5EED-4B1E-8D00-000000000000", "zz", ""]
  private static let forms = ["STRING", "HEX", "INT", "FLOAT", "hex"]
  private static let values = [#""0aff""#, #""7""#, "-7", "300", "1e300", "99999999999999999999", "1.5", "{}", "null"]

  private let daemon: DrivenDaemon
  private let gateway: Gateway
  private let configuration: GatewayConfiguration
  private var broker: FuzzBroker?
  private var commands = 0
  private var answers = 0

  init?(_ input: inout FuzzInput) {
    let text = Self.configurations[input.number(below: Self.configurations.count)]
    let spool = input.octet() & 1 == 0 ? nil : try? Spool(MemoryStore(), limit: 1 << 20)
    guard let configuration = try? GatewayConfiguration(text.utf8, file: "file", hostName: "host") else { return nil }
    self.configuration = configuration
    // Names and formats of devices' values are read, too.
    let allowed = configuration.commands.union(configuration.devices.isEmpty ? [] : [.read])
    daemon = DrivenDaemon { method in
      switch method {
      case GATTRead.name: invariant(allowed.contains(.read), "a value is read, which is not allowed")
      case GATTWrite.name: invariant(allowed.contains(.write), "a value is written, which is not allowed")
      default: break
      }
    }
    gateway = Gateway(configuration, daemon.scripted, daemon.clock, spool: spool)
    gateway.start()
    daemon.settle()
  }

  func step(_ input: inout FuzzInput) {
    let choice = input.octet()
    switch choice & 15 {
    case 0: connect()
    case 1: disconnect()
    case 2: receive(input.packet(), &input)
    case 3...7: receive(command(&input), &input)
    case 8: if let broker, let number = broker.confirm(Int(input.octet())) { confirmed(number, &input) }
    case 9:
      let number = Int32(input.word())
      broker?.confirm(number: number)
      confirmed(number, &input)
    case 10: daemon.clock.advance(by: .milliseconds(Int64(input.word())))
    case 11: notify(&input)
    case 12: daemon.failOrRecover()
    case 13: broker?.refuses.toggle()
    case 14: daemon.scripted.leaveOrReturn()
    default: while let number = broker?.confirm(0) { gateway.confirmed(number, isRefused: false) }
    }
    // The answers of bled may come later.
    if choice & 128 == 0 { daemon.settle() }
  }

  private func confirmed(_ number: Int32, _ input: inout FuzzInput) {
    gateway.confirmed(number, isRefused: input.octet() & 1 == 1)
  }

  // MARK: The broker

  private func connect() {
    guard broker == nil else { return }
    let broker = FuzzBroker { [unowned self] in check($0) }
    self.broker = broker
    gateway.connected(broker)
  }

  private func disconnect() {
    guard let broker else { return }
    broker.disconnect()
    self.broker = nil
    gateway.disconnected()
  }

  private func receive(_ payload: [UInt8], _ input: inout FuzzInput) {
    let options = input.octet()
    var topic = "home/g/commands/MQTTtoBT/config"
    if options & 3 == 1 { topic = "home/g/commands/MQTTtoBT" }
    if options & 3 == 2 { topic += String(decoding: input.packet(), as: UTF8.self) }
    var message = IncomingMessage(topic: topic, payload: payload, isRetained: options & 4 != 0)
    if options & 8 != 0 { message.responseTopic = String(decoding: input.packet(), as: UTF8.self) }
    if options & 16 != 0 { message.responseTopic = "home/g/commands/MQTTtoBT" }
    if options & 32 != 0 { message.responseTopic = "app/answer" }
    if options & 64 != 0 { message.correlation = input.filler() }
    // Without a topic for them the answers go to where reports go.
    if message.responseTopic == "app/answer" { commands += 1 }
    gateway.received(message)
  }

  /// A command in which some of the words are right.
  private func command(_ input: inout FuzzInput) -> [UInt8] {
    let kind = input.octet()
    guard kind & 3 != 3 else { return Array(#"{"activescan":\#(kind & 4 == 0)}"#.utf8) }
    let verb = kind & 1 == 0 ? "read" : "write"
    var members = [
      #""ble_\#(verb)_address":"\#(Self.addresses[input.number(below: Self.addresses.count)])""#,
      #""ble_\#(verb)_char":"\#(Self.uuids[input.number(below: Self.uuids.count)])""#,
    ]
    if kind & 4 != 0 {
      members.append(#""ble_\#(verb)_service":"\#(Self.uuids[input.number(below: Self.uuids.count)])""#)
    }
    if kind & 8 != 0 { members.append(#""mac_type":\#(Int(input.octet()) - 128)"#) }
    if kind & 16 != 0 { members.append(#""value_type":"\#(Self.forms[input.number(below: Self.forms.count)])""#) }
    if kind & 32 != 0 { members.append(#""ble_write_response":\#(kind & 64 == 0)"#) }
    if verb == "write" {
      members.append(#""ble_write_value":\#(Self.values[input.number(below: Self.values.count)])"#)
    }
    return Array("{\(members.joined(separator: ","))}".utf8)
  }

  /// A message of the gateway.
  private func check(_ message: OutgoingMessage) {
    invariant(Self.isPublishable(message.topic), "a message to \(message.topic)")
    invariant(!configuration.topics.isCommand(message.topic), "a command to itself: \(message.topic)")
    if message.topic == "app/answer" { answers += 1 }
    guard message.topic != configuration.topics.availability, !message.payload.isEmpty else { return }
    let object = try? JSONDecoder().decode([String: JSONValue].self, from: Data(message.payload))
    invariant(object != nil, "not an object of JSON: \(String(decoding: message.payload, as: UTF8.self))")
  }

  static func isPublishable(_ topic: String) -> Bool {
    (1...1024).contains(topic.utf8.count) && !topic.utf8.contains { $0 == 0 || $0 == 0x23 || $0 == 0x2B }
  }

  // MARK: bled

  private func notify(_ input: inout FuzzInput) {
    guard input.octet() & 1 == 0 else { return daemon.tell(&input) }
    daemon.report("CC\(input.octet())", &input) { report, input in
      report.name = String(decoding: input.packet(), as: UTF8.self)
      if input.octet() & 1 == 1 { report.decoded = [DecodedData(kind: "bthome", members: [])] }
    }
  }

  /// bled is gone and the broker takes everything: nothing waits, and no command had two answers.
  func end() {
    daemon.settle()
    gateway.close()
    daemon.settle()
    connect()
    broker?.refuses = false
    while let number = broker?.confirm(0) { gateway.confirmed(number, isRefused: false) }
    invariant(gateway.isIdle, "messages are left")
    invariant(answers <= commands, "\(answers) answers to \(commands) commands")
    disconnect()
  }
}
