import Adapter
import BledRPC
import Bluetooth
import FoundationEssentials
import MQTTGateway
import SessionTestSupport
import Testing
import ValueFormats

/// The gateway between bled and a broker, both played by the test.
private final class GatewayStage: Broker {
  typealias Descriptor = (handle: UInt16, uuid: BluetoothUUID, value: [UInt8])

  let daemon = ScriptedDaemon()
  let clock = VirtualScheduler()
  let gateway: Gateway
  private(set) var sent: [OutgoingMessage] = []
  private(set) var said: [String] = []
  var descriptors: [Descriptor]
  /// The calls of the gateway that name a characteristic or device.
  var subscribed: (ScriptedDaemon.Session, UInt16) throws -> Void = { _, _ in }

  /// - Parameter descriptors: those of each characteristic.
  init(
    _ members: String, discovery: String = "false", names: String = "",
    descriptors: [Descriptor] = [], held: Set<String> = []
  ) throws {
    let text = #"{ "broker": { "host": "localhost" }, "discovery": \#(discovery), "undecoded": false, \#(members) }"#
    let configuration = try GatewayConfiguration(Array(text.utf8), file: "mqtt.json", hostName: "kitchen")
    self.descriptors = descriptors
    gateway = Gateway(configuration, daemon, clock, spool: nil, names: try NameList(names))
    gateway.say = { [unowned self] in said.append($0) }
    daemon.answer = { [unowned self] method, message, session in
      switch method {
      case PeripheralConnect.name: return .success(Self.link)
      case GATTSubscribe.name:
        guard let uuid = try? message.params(GATTSubscribe.Params.self).attribute.characteristic else { return nil }
        let handle: UInt16 = uuid == 0x2A37 ? 3 : 9
        clock.schedule(after: .zero) { [unowned self] in try? subscribed(session, handle) }
        return .success(AttributeFound(handle: handle, uuid: uuid))
      case GATTDiscoverDescriptors.name:
        return .success(
          GATTDiscoverDescriptors.Result(descriptors: self.descriptors.map { .init(handle: $0.handle, uuid: $0.uuid) }))
      case GATTRead.name:
        let handle = try? message.params(GATTRead.Params.self).attribute.handle
        let value = self.descriptors.first { $0.handle == handle }?.value ?? []
        return .success(GATTRead.Result(value: HexBytes(value)))
      default: return nil
      }
    }
    daemon.held = held
    gateway.start()
    settle()
  }

  static let link = PeripheralConnect.Result(
    peripheral: "P", address: "C0:DE:00:00:00:01", addressType: "random", adapter: "hci0", mtu: 247, attempts: 1)
  static let device = #""devices": [{ "address": "C0:DE:00:00:00:01", "subscribe": ["2A37", "2A19"] }]"#

  func publish(_ message: OutgoingMessage) -> Handover {
    sent.append(message)
    return .handed(Int32(sent.count))
  }

  func settle() {
    repeat { clock.advance(by: .zero) } while daemon.deliver()
  }

  func advance(by duration: Duration) {
    clock.advance(by: duration)
    settle()
  }

  var session: ScriptedDaemon.Session { get throws { try #require(daemon.sessions.last) } }

  func notify<Notification: RPCNotification>(_ type: Notification.Type, _ params: Notification.Params) throws {
    try session.notify(type, params)
    settle()
  }

  func value(_ octets: UInt8..., of handle: UInt16) throws {
    try notify(GATTValue.self, .init(peripheral: "P", handle: handle, value: HexBytes(octets)))
  }

  func hear(_ number: Int) throws {
    let address = "C0:DE:00:00:00:0\(number)"
    try notify(
      ScanReport.self,
      ScanReport.Params(
        peripheral: "\(number)", adapter: "hci0", address: address, addressType: "random", connectable: true,
        data: HexBytes([2, 1, 6]), time: 0))
  }

  /// The last levels of the topics of devices, and the number of calls of a method by the gateway.
  var topics: [String] {
    sent.map(\.topic).filter { $0.contains("/BTtoMQTT/") }.map { String($0.split(separator: "/").last ?? "") }
  }

  func count(_ method: String) throws -> Int { try session.methods.count { $0 == method } }
}

struct GatewayTests {
  @Test func aBrokerElsewhereWithoutTLS() throws {
    let text = #"{ "broker": { "host": "broker.example" } }"#
    let configuration = try GatewayConfiguration(Array(text.utf8), file: "mqtt.json", hostName: "kitchen")
    let daemon = ScriptedDaemon()
    let gateway = Gateway(configuration, daemon, VirtualScheduler(), spool: nil)
    var said: [String] = []
    gateway.say = { said.append($0) }
    gateway.start()
    #expect(said.count == 1 && said[0].utf8.starts(with: "the broker is on another machine without TLS".utf8))
  }

  @Test func anAbsentDaemonIsSaidOnceForEachLoss() throws {
    let text = #"{ "broker": { "host": "localhost" } }"#
    let configuration = try GatewayConfiguration(Array(text.utf8), file: "mqtt.json", hostName: "kitchen")
    let (daemon, clock) = (ScriptedDaemon(), VirtualScheduler())
    daemon.isGone = true
    let gateway = Gateway(configuration, daemon, clock, spool: nil)
    var said: [String] = []
    gateway.say = { said.append($0) }
    gateway.start()
    clock.advance(by: .seconds(5))
    #expect(said.count == 1 && said[0].hasSuffix("it is tried again each second"))
    daemon.isGone = false
    clock.advance(by: .seconds(1))
    while daemon.deliver() {}
    #expect(said.last == "connected to bled")
    daemon.isGone = true
    daemon.sessions.last?.end()
    clock.advance(by: .seconds(5))
    #expect(said.count == 3 && said[2].hasSuffix("it is tried again each second"))
  }

  @Test func aChangeOfServicesLosesNoValuesOfOthers() throws {
    let stage = try GatewayStage(GatewayStage.device)
    stage.gateway.connected(stage)
    stage.settle()
    // The value is received before the subscriptions within the range are answered again.
    try stage.session.notify(GATTServicesChanged.self, .init(peripheral: "P", start: 5, end: 12))
    try stage.session.notify(GATTValue.self, .init(peripheral: "P", handle: 3, value: HexBytes([1])))
    stage.settle()
    try stage.value(2, of: 9)
    #expect(stage.topics == ["2A37", "2A19"])
    #expect(try stage.count(GATTSubscribe.name) == 3)
  }

  @Test func valuesRightAfterTheAnswerArePublishedInTheirOrder() throws {
    let stage = try GatewayStage(#""publish": { "every": 0 }"#)
    #expect(stage.topics.isEmpty)
    let device = try GatewayStage(GatewayStage.device)
    device.subscribed = { session, handle in
      for octet in 1...3 as ClosedRange<UInt8> {
        try session.notify(GATTValue.self, .init(peripheral: "P", handle: handle, value: HexBytes([octet])))
      }
    }
    device.gateway.connected(device)
    try device.notify(PeripheralDisconnected.self, .init(peripheral: "P", reason: nil, reconnecting: true))
    try device.notify(PeripheralConnected.self, GatewayStage.link)
    device.settle()
    #expect(device.topics == ["2A37", "2A37", "2A37", "2A19", "2A19", "2A19"])
  }

  @Test func aValueHasTheNameAndTheFormatOfItsOwner() throws {
    let stage = try GatewayStage(GatewayStage.device, names: "2A19 = Cell: u8*0.5 V")
    stage.gateway.connected(stage)
    try stage.value(25, of: 9)
    stage.settle()
    let payload = try #require(stage.sent.last { $0.topic.contains("2A19") }?.payload)
    let object = try JSONDecoder().decode([String: JSONValue].self, from: Data(payload))
    #expect(object["characteristic_name"] == "Cell" && object["text"] == "12.5 V", "\(object)")
    #expect(object["number"] == .number(12.5) && object["unit"] == "V")
  }

  @Test func theNumbersOfAValueAreDescribedOnce() throws {
    let stage = try GatewayStage(
      GatewayStage.device, discovery: #""homeassistant""#,
      names: "2A19 = Cell: u8*0.5 V\n2A37 = : u8 flags, u8 rate bpm, bool on")
    stage.gateway.connected(stage)
    for _ in 0..<2 {
      try stage.value(25, of: 9)
      stage.settle()
    }
    let cell = stage.sent.filter { $0.topic == "homeassistant/sensor/C0DE00000001-2A19/config" }
    #expect(cell.count == 1 && cell.first?.isRetained == true)
    let object = try JSONDecoder().decode([String: JSONValue].self, from: Data(try #require(cell.first).payload))
    #expect(object["name"] == "Cell" && object["unit_of_measurement"] == "V", "\(object)")
    #expect(object["value_template"] == "{{ value_json.number }}")
    #expect(object["state_topic"] == "home/+/BTtoMQTT/C0DE00000001/2A19")
    // The broker may have lost them.
    stage.gateway.connected(stage)
    stage.settle()
    #expect(stage.sent.count { $0.topic == "homeassistant/sensor/C0DE00000001-2A19/config" } == 2)
  }

  /// User Description and Presentation Format.
  private static let descriptors: [GatewayStage.Descriptor] = [
    (10, 0x2901, Array("Torque".utf8)), (11, 0x2904, [0x04, 0xFF, 0xAD, 0x27, 1, 0, 0]),
  ]
  private static let own = #""devices": [{ "address": "C0:DE:00:00:00:01", "subscribe": ["FFF1"] }]"#

  private func described(_ stage: GatewayStage) throws -> (value: [String: JSONValue], sensor: [String: JSONValue]) {
    stage.gateway.connected(stage)
    try stage.value(73, of: 9)
    stage.settle()
    let value = try #require(stage.sent.last { $0.topic.hasSuffix("/BTtoMQTT/C0DE00000001/FFF1") }?.payload)
    let sensor = stage.sent.last { $0.topic == "homeassistant/sensor/C0DE00000001-FFF1/config" }?.payload
    func object(_ octets: [UInt8]) throws -> [String: JSONValue] {
      try JSONDecoder().decode([String: JSONValue].self, from: Data(octets))
    }
    return (try object(value), try sensor.map(object) ?? [:])
  }

  @Test func theDescriptorsOfADeviceNameAndFormatItsValues() throws {
    let stage = try GatewayStage(Self.own, discovery: #""homeassistant""#, descriptors: Self.descriptors)
    let (value, sensor) = try described(stage)
    #expect(value["characteristic_name"] == "Torque" && value["text"] == "7.3 %", "\(value)")
    #expect(value["number"] == .number(7.3) && value["unit"] == "%")
    #expect(sensor["name"] == "Torque" && sensor["unit_of_measurement"] == "%", "\(sensor)")
  }

  @Test func theOwnersNamesCountBeforeTheDevices() throws {
    let stage = try GatewayStage(
      Self.own, discovery: #""homeassistant""#, names: "C0:DE:00:00:00:01/FFF1 = Load: u8 kg",
      descriptors: Self.descriptors)
    let (value, sensor) = try described(stage)
    #expect(value["characteristic_name"] == "Load" && value["text"] == "73 kg", "\(value)")
    #expect(sensor["name"] == "Load" && sensor["unit_of_measurement"] == "kg", "\(sensor)")
  }

  /// Each format is for a part of the value.
  @Test func severalFormatsAreNotApplied() throws {
    let several = Self.descriptors + [(12, 0x2904, [0x04, 0, 0, 0x27, 1, 0, 0])]
    let stage = try GatewayStage(Self.own, discovery: #""homeassistant""#, descriptors: several)
    let (value, sensor) = try described(stage)
    #expect(value["characteristic_name"] == "Torque" && value["number"] == nil && sensor.isEmpty, "\(value)")
  }

  /// Sensors send soon after a connection, and some do not answer a read.
  @Test func valuesDoNotWaitForDescriptors() throws {
    let stage = try GatewayStage(
      Self.own, discovery: #""homeassistant""#, descriptors: Self.descriptors, held: [GATTDiscoverDescriptors.name])
    #expect(try described(stage).value["characteristic_name"] == nil)
  }

  /// A thermometer may give another unit with each value (2A1C, flags).
  @Test func aDescriptionThatAlternatesIsSentAFewTimesAtMost() throws {
    let stage = try GatewayStage(
      #""devices": [{ "address": "C0:DE:00:00:00:01", "subscribe": ["2A1C"] }]"#, discovery: #""homeassistant""#)
    stage.gateway.connected(stage)
    for number in 0..<40 {
      try stage.value(UInt8(number & 1), 1, 0, 0, 0, of: 9)
      stage.settle()
    }
    let sent = stage.sent.count { $0.topic.hasPrefix("homeassistant/sensor/C0DE00000001-2A1C") }
    #expect(1...9 ~= sent, "\(sent)")
  }

  /// Another firmware has another name, or the descriptor could not be read before.
  @Test func anotherNameIsDescribedAgain() throws {
    let stage = try GatewayStage(Self.own, discovery: #""homeassistant""#, descriptors: [Self.descriptors[1]])
    #expect(try described(stage).sensor["name"] == "FFF1")
    stage.descriptors = Self.descriptors
    try stage.notify(PeripheralDisconnected.self, .init(peripheral: "P", reason: nil, reconnecting: true))
    try stage.notify(PeripheralConnected.self, GatewayStage.link)
    stage.settle()
    #expect(try described(stage).sensor["name"] == "Torque")
  }

  @Test func anAbsentDeviceIsSaidOnceWithTheReason() throws {
    let stage = try GatewayStage(GatewayStage.device, held: [PeripheralConnect.name])
    stage.advance(by: .seconds(59))
    #expect(stage.said == ["connected to bled"])
    for _ in 0..<5 { stage.advance(by: .seconds(60)) }
    #expect(stage.said.count == 2 && stage.said[1].contains("not connected yet: bled has not received it: "))
  }

  @Test(
    arguments: [
      (nil, nil, "bled has not received it"), (300, true, "bled received it 300 s ago"),
      (2, false, "it advertises without accepting connections"), (2, true, "bled receives it, and no connection"),
    ] as [(Double?, Bool?, String)])
  func aLostDeviceIsSaidToBeAbsentAndBack(_ seconds: Double?, _ isConnectable: Bool?, _ reason: String) throws {
    let stage = try GatewayStage(GatewayStage.device)
    stage.daemon.devices = [
      .init(
        peripheral: "P", address: "C0:DE:00:00:00:01", addressType: "random", adapter: "hci0", name: nil, rssi: nil,
        state: "connecting", mine: false, mtu: nil, connectable: isConnectable, sinceReport: seconds)
    ]
    // Sleeping devices come and go without a line.
    for _ in 0..<3 {
      try stage.notify(PeripheralDisconnected.self, .init(peripheral: "P", reason: nil, reconnecting: true))
      stage.advance(by: .seconds(50))
      try stage.notify(PeripheralConnected.self, GatewayStage.link)
    }
    #expect(stage.said == ["connected to bled"])
    try stage.notify(PeripheralDisconnected.self, .init(peripheral: "P", reason: nil, reconnecting: true))
    for _ in 0..<5 { stage.advance(by: .seconds(60)) }
    #expect(stage.said.count == 2 && stage.said[1].contains("not connected yet: \(reason)"), "\(stage.said)")
    try stage.notify(PeripheralConnected.self, GatewayStage.link)
    #expect(stage.said.last == "C0:DE:00:00:00:01 is connected")
  }

  @Test func aFailureOfADeviceIsSaidOnce() throws {
    let stage = try GatewayStage(GatewayStage.device)
    let answer = stage.daemon.answer
    stage.daemon.answer = { method, message, session in
      guard method == PeripheralConnect.name else { return answer(method, message, session) }
      return .failure(GAPError.adapterAbsent.error("there is no adapter"))
    }
    try stage.notify(PeripheralDisconnected.self, .init(peripheral: "P", reason: nil))
    for _ in 0..<20 { stage.advance(by: .seconds(60)) }
    let lines = stage.said.dropFirst()
    #expect(lines == ["C0:DE:00:00:00:01 cannot be connected to, which is tried again: there is no adapter"])
    #expect(try stage.count(PeripheralConnect.name) > 5)
  }

  @Test func anAbsentDeviceIsSaidAfterAnotherFailure() throws {
    let stage = try GatewayStage(GatewayStage.device)
    let answer = stage.daemon.answer
    stage.daemon.answer = { method, message, session in
      guard method == PeripheralConnect.name else { return answer(method, message, session) }
      return .failure(GAPError.adapterAbsent.error("there is no adapter"))
    }
    try stage.notify(PeripheralDisconnected.self, .init(peripheral: "P", reason: nil))
    stage.advance(by: .seconds(5))
    // The adapter is back; the device is not.
    stage.daemon.held = [PeripheralConnect.name]
    for _ in 0..<20 { stage.advance(by: .seconds(60)) }
    let lines = stage.said.dropFirst()
    #expect(lines.count == 2 && lines.first?.hasSuffix("there is no adapter") == true, "\(lines)")
    #expect(lines.last?.contains("not connected yet: ") == true, "\(lines)")
  }

  @Test func aLostLinkThatIsNotComingBackIsTriedAgain() throws {
    let stage = try GatewayStage(GatewayStage.device)
    try stage.notify(PeripheralDisconnected.self, .init(peripheral: "P", reason: nil, reconnecting: true))
    try stage.notify(
      PeripheralConnectFailed.self, .init(peripheral: "P", reason: RPCError(GAPError.cancelled.error("blocked"))))
    #expect(stage.said.last?.hasSuffix("blocked") == true)
    #expect(try stage.count(PeripheralConnect.name) == 1)
    stage.advance(by: .seconds(5))
    #expect(try stage.count(PeripheralConnect.name) == 2)
  }

  @Test(arguments: [0, 60]) func withoutASpoolTheFirstReportsAreNotLost(_ every: Int) throws {
    let stage = try GatewayStage(#""publish": { "every": \#(every) }"#)
    for number in 1...3 { try stage.hear(number) }
    stage.gateway.connected(stage)
    stage.settle()
    #expect(stage.topics.isEmpty)
    // A scan without repetitions reports a device again if it begins again.
    #expect(try stage.count(ScanStart.name) == (every == 0 ? 2 : 1))
    for number in 1...3 { try stage.hear(number) }
    for number in 1...3 { try stage.hear(number) }
    #expect(stage.topics == ["C0DE00000001", "C0DE00000002", "C0DE00000003"])
  }
}
