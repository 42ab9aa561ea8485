import Adapter
import Bluetooth
import GATT
import Testing

@testable import BledCore
@testable import BledRPC
@testable import openrpc

/// The word lists that `rpc.discover` tells are those that the daemon has.
@Suite struct WordListTests {
  private let places: [String: JSONValue]

  init() throws { places = try OpenRPC.description(DocComments()).places }

  /// The words of a member or, if it is a list, of its elements.
  private func words(_ place: String) -> Set<String> {
    guard case .object(var schema)? = places[place] else { return [] }
    if case .object(let items)? = schema["items"] { schema = items }
    guard case .array(let words)? = schema["enum"] else { return [] }
    return Set(words.compactMap { if case .text(let word) = $0 { word } else { nil } })
  }

  @Test("of adapters and of what they do")
  func adapters() {
    let problem = AdapterProblem(kind: .hardware, message: "", remedy: "")
    let states: [AdapterState] = [.absent, .off, .starting, .on, .suspended, .failed(problem)]
    #expect(words("AdapterDescription.state") == Set(states.map(\.word)))
    #expect(words("AdapterDescription.Problem.kind") == Set(AdapterProblem.Kind.allCases.map(\.rawValue)))
    for member in ["takingTurns", "heldBack"] {
      #expect(words("AdapterDescription.\(member)") == Set(AdapterActivity.allCases.map(\.rawValue)), "\(member)")
    }
    let phys = Set(PHY.allCases.map(\.word))
    for member in ["AdapterDescription.phys", "LinkDescription.txPHY", "LinkDescription.rxPHY"] {
      #expect(words(member) == phys, "\(member)")
    }
    #expect(words("ScanReport.Params.secondaryPHY") == phys)
    #expect(words("AdvertisingChanged.Params.ended") == Set(AdvertisingEnd.allCases.map(\.rawValue)))
  }

  @Test("of addresses, roles, pairing and permissions")
  func links() {
    let kinds = Set(DeviceAddress.Kind.allCases.map { "\($0)" })
    let types = places.keys.filter { $0.hasSuffix(".addressType") || $0.hasSuffix(".directedToType") }
    #expect(types.count > 5)
    for place in types { #expect(words(place) == kinds, "\(place)") }
    #expect(words("LinkDescription.role") == [LinkRole.central.rawValue, LinkRole.peripheral.rawValue])
    #expect(words("PairingRegister.Params.capability") == Set(PairingCapability.allCases.map(\.rawValue)))
    for place in ["SessionOpen.Result.permissions", "SessionDescription.permissions"] {
      #expect(words(place) == Set(Permission.allCases.map(\.rawValue)), "\(place)")
    }
  }

  @Test("of characteristics")
  func characteristics() throws {
    let properties = Set(CharacteristicProperties(rawValue: 0xFF).words)
    for type in ["CharacteristicDescription", "ServiceToPublish.Characteristic"] {
      #expect(words("\(type).properties") == properties, "\(type)")
    }
    #expect(
      words("CharacteristicDescription.extendedProperties") == Set(ExtendedProperties(rawValue: 0xFFFF).words))
    var access: Set<String> = ["readable", "writeable"]
    for verb in ["read", "write", "subscribe"] {
      for level in ["Encryption", "Authentication", "SecureConnections"] { access.insert("\(verb)\(level)Required") }
    }
    #expect(words("ServiceToPublish.Characteristic.permissions") == access)
    _ = try AccessWords(Array(access))
  }
}
