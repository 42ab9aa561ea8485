import Bluetooth
import Foundation
import Testing

@testable import BledRPC

/// Messages have their members in one order: that of the declaration.
@Suite struct MemberOrderTests {
  private func text(_ line: Data) -> String { String(decoding: line, as: UTF8.self) }

  @Test("The members of an error come as they are declared, one message like the other")
  func errors() throws {
    let error = RPCError(GAPError.timeout.error("no \"answer\"/\n"))
    let expected = """
      {"jsonrpc":"2.0","id":7,"error":{"code":-32000,"message":"no \\"answer\\"/\\u000a","data":\
      {"domain":"gap","code":1,"name":"timeout"}}}

      """
    for _ in 0..<8 { #expect(text(try RPCEncoding.failure(id: .number(7), error)) == expected) }
  }

  @Test("A type that shares its members with another one has both, in the order in which it writes them")
  func shared() throws {
    let params = GATTDiscoverCharacteristics.Params(
      peripheral: "P", attribute: .handle(5), uuids: [BluetoothUUID(0x2A19), BluetoothUUID(0x2A37)])
    let line = text(try RPCEncoding.request(GATTDiscoverCharacteristics.self, id: .text("a"), params))
    #expect(line.hasSuffix(#""params":{"peripheral":"P","handle":5,"uuids":["2A19","2A37"]}}"# + "\n"))
  }

  @Test("Members that have no order of their own come in that of their names")
  func dictionaries() throws {
    let names = (10..<30).map { "name\($0)" }
    let value = JSONValue.object([
      "list": .array([.object(Dictionary(uniqueKeysWithValues: names.map { ($0, .null) }))])
    ])
    let line = text(try RPCEncoding.success(id: .number(1), value))
    let members = names.map { "\"\($0)\":null" }.joined(separator: ",")
    #expect(line == #"{"jsonrpc":"2.0","id":1,"result":{"list":[{"# + members + "}]}}\n")
    var report = ScanReport.Params(
      peripheral: "", adapter: "", address: "", addressType: "", connectable: true, data: HexBytes([]), time: 1)
    report.serviceData = Dictionary(uniqueKeysWithValues: names.map { ($0, HexBytes([])) })
    let order = names.map { "\"\($0)\":\"\"" }.joined(separator: ",")
    #expect(text(try RPCEncoding.notification(ScanReport.self, report)).contains("{\(order)}"))
  }

  private struct Inner: Codable, Hashable, RPCPayload {
    private enum CodingKeys: CodingKey { case list, deep }
    private enum DeepKeys: CodingKey { case first, second }
    var list: [[Int8]]
    var deep: [UInt64]

    init(list: [[Int8]], deep: [UInt64]) { (self.list, self.deep) = (list, deep) }

    init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: CodingKeys.self)
      list = try container.decode([[Int8]].self, forKey: .list)
      let nested = try container.nestedContainer(keyedBy: DeepKeys.self, forKey: .deep)
      deep = [try nested.decode(UInt64.self, forKey: .first), try nested.decode(UInt64.self, forKey: .second)]
    }

    func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: CodingKeys.self)
      var nested = container.nestedContainer(keyedBy: DeepKeys.self, forKey: .deep)
      try nested.encode(deep[0], forKey: .first)
      try nested.encode(deep[1], forKey: .second)
      try container.encode(list, forKey: .list)
    }
  }

  private struct Everything: Codable, Hashable, RPCPayload {
    struct Nothing: Codable, Hashable {}
    var number = 2.5
    var whole = 95.0
    var large = 1e300
    var narrow = Float(-0.125)
    var negative = Int16(-7)
    var text = "\u{0}\u{1F}\"\\/é\u{2028}"
    var nothing = Nothing()
    var missing: Int?
    var some: Bool? = false
    var empty: [Int] = []
    var none: [String: Int] = [:]
    var inner = [Inner(list: [[], [-1, 2]], deep: [0, .max]), Inner(list: [], deep: [1, 2])]
  }

  @Test("Any value means the same as with JSONEncoder")
  func everything() throws {
    let line = try RPCEncoding.success(id: .number(1), Everything())
    let result = try #require(text(line).firstRange(of: #""result":"#)).upperBound
    let body = text(line)[result...].dropLast(2)
    #expect(try JSONDecoder().decode(Everything.self, from: Data(body.utf8)) == Everything())
    #expect(body.hasPrefix(#"{"number":2.5,"whole":95,"large":1e+300,"narrow":-0.125,"negative":-7,"text":""#))
    #expect(body.contains(#""nothing":{},"some":false,"empty":[],"none":{},"inner":[{"deep":{"first":0,"#))
    #expect(body.hasSuffix(#""list":[[],[-1,2]]},{"deep":{"first":1,"second":2},"list":[]}]}"#))
    for number in [Double.nan, -.infinity] {
      #expect(throws: EncodingError.self) { try RPCEncoding.success(id: .number(1), JSONValue.number(number)) }
    }
  }
}
