import JSONFiles
import Testing

@testable import bleshell

/// A scenario in parts means what it means in one call.
@Suite struct ScenarioPartsTests {
  /// A device of more than half a part.
  private static func device(_ number: Int, _ members: String = "") -> String {
    let value = String(repeating: "00", count: 40 << 10)
    return "{ address: 'C0:DE:01:00:00:0\(number)', value: '\(value)' \(members) }"
  }

  private static func parts(_ text: String) throws -> [ScenarioParts.Part] {
    try ScenarioParts(try JSONFile.parse(Array(text.utf8), name: "zoo")).parts
  }

  @Test func eachPartHasTheSeed() throws {
    let list = "devices: [\(Self.device(1)), \(Self.device(2))], phones: [\(Self.device(3))]"
    let parts = try Self.parts("{ seed: 9007199254740992, \(list) }")
    #expect(parts.count == 3)
    for part in parts { #expect(part.text.hasPrefix("{\"seed\":9007199254740992,\"devices\":[")) }
    for part in try Self.parts("{ \(list) }") { #expect(part.text.hasPrefix("{\"devices\":[")) }
    let error = #expect(throws: FileError.self) { try Self.parts("{ seed: -1, \(list) }") }
    #expect(error.map { "\($0)".contains("zoo:1:9: seed: ") } == true)
  }

  @Test func anAddressInTwoPartsIsAnError() throws {
    // Also of a phone, in other letters.
    for (devices, phones, path) in [
      ("\(Self.device(1)), \(Self.device(2)), { address: 'c0:de:01:00:00:01' }", "", "devices[2]"),
      (Self.device(1), "{ address: 'c0:de:01:00:00:01', addressType: 'public' }", "phones[0]"),
    ] {
      let error = #expect(throws: FileError.self) { try Self.parts("{ devices: [\(devices)], phones: [\(phones)] }") }
      #expect(
        error.map { "\($0)".contains("\(path): two devices have the address C0:DE:01:00:00:01") } == true,
        "\(error.map { "\($0)" } ?? "")")
    }
    // Another type is another address.
    _ = try Self.parts("{ devices: [\(Self.device(1)), \(Self.device(1, ", addressType: 'random'"))] }")
  }

  @Test func whatTheDaemonRefusesIsLeftToIt() throws {
    let devices = "4, {}, { address: 7 }, { address: 'x' }, { address: 'x' }, { address: 'x', addressType: 1 }"
    #expect(try Self.parts("{ devices: [\(devices)] }").count == 1)
  }
}
