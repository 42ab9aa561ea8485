import BledRPC
import Bluetooth
import JSONFiles
import Testing

@testable import bleshell

/// The values of a served scenario, by rules and times.
@Suite struct ServedValuesTests {
  private func file(_ characteristics: String, device: String = "") throws -> ServiceFile {
    let text = """
      { devices: [{ name: "A", address: "C0:DE:00:00:00:66", \(device)
        services: [{ uuid: "FFF0", characteristics: [\(characteristics)] }] }] }
      """
    return try ServedScenario(try JSONFile.parse(text.utf8, name: "file"), device: nil).file()
  }

  /// The handles are 0x10, 0x11 and so on.
  private func values(_ characteristics: String, device: String = "") throws -> ServedValues {
    let file = try self.file(characteristics, device: device)
    var values = ServedValues(file.behaviour)
    for service in file.services {
      let described = service.characteristics.enumerated().map { index, characteristic in
        CharacteristicDescription(
          handle: UInt16(0x10 + index), end: UInt16(0x10 + index), uuid: characteristic.uuid, properties: [])
      }
      values.add(
        service,
        as: ServiceDescription(handle: 1, end: 0x20, uuid: service.uuid, primary: true, characteristics: described))
    }
    return values
  }

  private static let recording = """
    { uuid: "FFF1", value: "00", properties: ["read", "notify"], rule: { kind: "recording",
        read: [{ at: 10, value: "0A" }, { at: 20, value: "0B" }],
        sent: [{ after: 1, value: "01" }, { after: 2, value: "02" }] } }
    """

  @Test("a recording begins with the link, and for each device by itself")
  func recordings() throws {
    var values = try values(Self.recording)
    #expect(values.dependsOnLinks)
    values.linkIsUp("one", at: .seconds(100))
    #expect(values.read(0x10, by: "one", at: .seconds(105)) == [0])
    #expect(values.read(0x10, by: "one", at: .seconds(110)) == [0x0A])
    // Its link is not known: it counts from the first request.
    #expect(values.read(0x10, by: "two", at: .seconds(110)) == [0])
    #expect(values.read(0x10, by: "two", at: .seconds(130)) == [0x0B])
    values.linkEnded("one")
    values.linkIsUp("one", at: .seconds(200))
    #expect(values.read(0x10, by: "one", at: .seconds(201)) == [0])
  }

  @Test("values are sent in their time, again and again, and read then; a new subscription begins again")
  func sent() throws {
    var values = try values(Self.recording)
    let place = ServedValues.Place(central: "one", handle: 0x10)
    let other = ServedValues.Place(central: "two", handle: 0x10)
    values.subscribed(place, at: .zero)
    var sent: [[UInt8]?] = []
    var delays: [Duration?] = []
    for _ in 0..<3 {
      delays.append(values.delay(place, at: .zero))
      sent.append(values.due(place, at: .zero))
    }
    #expect(sent == [[1], [2], [1]] && delays == [.seconds(1), .seconds(2), .seconds(1)])
    #expect(values.read(0x10, by: "one", at: .seconds(20)) == [1] && values.delay(other, at: .zero) == .seconds(1))
    values.subscribed(place, at: .zero)
    #expect(values.due(place, at: .zero) == [1])
  }

  @Test("a number moves with the time, and is sent as often as the file says")
  func numbers() throws {
    var values = try values(
      #"{ uuid: "FFF1", value: "0600", properties: ["read", "notify"], notifyEvery: 0.5, "#
        + #"rule: { kind: "counter", from: 72, at: 1, every: 1 } }"#)
    let place = ServedValues.Place(central: "one", handle: 0x10)
    #expect(values.delay(place, at: .zero) == .milliseconds(500))
    #expect(values.due(place, at: .seconds(3)) == [6, 75] && values.read(0x10, by: "one", at: .seconds(4)) == [6, 76])
  }

  @Test("answers are late or errors as often as the file says, and none overtakes an earlier one of its device")
  func faults() throws {
    var values = try values(
      #"{ uuid: "FFF1", value: "01" }, { uuid: "FFF2", value: "02" }"#,
      device: "responseDelay: 0.5, faults: { answers: "
        + "[{ characteristic: \"FFF1\", request: \"read\", error: 14, delay: 3, count: 1 }] },")
    let late = values.answer(.read, of: 0x10, by: "one", at: .seconds(10))
    #expect(late.error == 14 && late.time == .milliseconds(13_500))
    let next = values.answer(.read, of: 0x11, by: "one", at: .seconds(11))
    #expect(next.error == nil && next.time == .milliseconds(13_500))
    let other = values.answer(.read, of: 0x10, by: "two", at: .seconds(11))
    #expect(other.error == nil && other.time == .milliseconds(11_500))
  }

  @Test("links are followed if a value or an answer depends on them")
  func links() throws {
    let plain = #"{ uuid: "FFF1", value: "01", properties: ["read", "notify"] }"#
    #expect(try !values(plain).dependsOnLinks)
    #expect(try values(plain, device: "responseDelay: [0, 0.5],").dependsOnLinks)
    #expect(try values(plain, device: "faults: { answers: [{ delay: 3 }] },").dependsOnLinks)
    let sent = #"properties: ["notify"], rule: { kind: "recording", sent: [{ after: 1, value: "01" }] }"#
    var served = try values("{ uuid: \"FFF1\", value: \"00\", \(sent) }")
    #expect(served.dependsOnLinks)
    let place = ServedValues.Place(central: "one", handle: 0x10)
    served.subscribed(place, at: .zero)
    #expect(served.due(place, at: .seconds(1)) == [1] && served.read(0x10, by: "one", at: .seconds(2)) == [1])
    served.linkEnded("one")
    #expect(served.read(0x10, by: "one", at: .seconds(3)) == [0])
  }

  @Test("no answer waits for one of the link before")
  func lateAnswers() throws {
    var values = try values(
      #"{ uuid: "FFF1", value: "01" }"#, device: "faults: { answers: [{ delay: 30, count: 1 }] },")
    #expect(values.answer(.read, of: 0x10, by: "one", at: .zero).time == .seconds(30))
    #expect(values.answer(.read, of: 0x10, by: "one", at: .seconds(1)).time == .seconds(30))
    values.linkEnded("one")
    #expect(values.answer(.read, of: 0x10, by: "one", at: .seconds(2)).time == .seconds(2))
  }

  @Test(
    "rules that contradict the properties are refused",
    arguments: [
      (#"properties: ["notify"], rule: { kind: "counter", at: 512 }"#, "rule", "the number ends after octet 512"),
      (#"properties: ["read", "write"], rule: { kind: "counter" }"#, "rule", "changes by itself cannot be written"),
      (
        #"properties: ["writeWithoutResponse"], rule: { kind: "recording", read: [{ at: 1, value: "01" }] }"#, "rule",
        "is read as it was written"
      ),
      (#"rule: { kind: "recording", sent: [{ after: 1, value: "01" }] }"#, "rule", "have no subscribers"),
      (
        #"properties: ["notify"], notifyEvery: 1, rule: { kind: "recording", sent: [{ after: 1, value: "01" }] }"#,
        "notifyEvery", "has the times of the values"
      ),
      ("notifyEvery: 1", "notifyEvery", "cannot be subscribed to"),
    ])
  func contradictions(_ members: String, _ name: String, _ message: String) {
    let error = #expect(throws: FileError.self) { try values("{ uuid: \"FFF1\", \(members) }") }
    #expect(error?.path == "devices[0].services[0].characteristics[0].\(name)")
    #expect(error?.message.contains(message) == true, "\(error?.message ?? "")")
  }

  @Test("a descriptor's value may be repeated up to a length, as in scenarios")
  func descriptors() throws {
    let descriptor = #"{ uuid: "2901", text: "ab", length: 3 }"#
    let file = try self.file("{ uuid: \"FFF1\", descriptors: [\(descriptor)] }")
    #expect(file.services.first?.characteristics.first?.descriptors?.map(\.octets) == [Array("aba".utf8)])
  }

  @Test("written values are adopted by the characteristics that echo them, and by no others")
  func echoes() throws {
    var values = try values(
      #"{ uuid: "FFF1", properties: ["write"] }, { uuid: "FFF2", rule: { kind: "echo", of: "FFF1" } }, "#
        + #"{ uuid: "FFF3", properties: ["write"], rule: { kind: "echo" } }"#)
    #expect(try values.write([.init(handle: 0x10, offset: 0, value: HexBytes([7]))]) == [0x11])
    #expect(values.read(0x11, by: "one", at: .zero) == [7])
    #expect(try values.write([.init(handle: 0x12, offset: 0, value: HexBytes([8]))]) == [0x12])
    #expect(throws: BluetoothError.self) {
      try values.write([.init(handle: 0x10, offset: 2, value: HexBytes([9]))])
    }
    #expect(values.read(0x10, by: "one", at: .zero) == [7])
  }
}
