import MQTTGateway

/// Files in memory, which outlast a spool as files on disk do.
final class MemoryStore: SpoolStore {
  struct Full: Error {}
  struct Missing: Error {}

  var content: [UInt64: [UInt8]] = [:]
  private(set) var aside: [UInt64] = []
  /// True if nothing more can be written.
  var isFull = false

  func files() -> [(number: UInt64, length: Int)] { content.map { ($0.key, $0.value.count) } }

  func read(_ number: UInt64, limit: Int) throws -> [UInt8] {
    guard let octets = content[number], octets.count <= limit else { throw Missing() }
    return octets
  }

  func append(_ octets: [UInt8], to number: UInt64) throws {
    guard !isFull else { throw Full() }
    content[number, default: []] += octets
  }

  func set(_ octet: UInt8, at offset: Int, of number: UInt64) throws { content[number]?[offset] = octet }

  func remove(_ number: UInt64) { content[number] = nil }

  func moveAside(_ number: UInt64) {
    content[number] = nil
    aside.append(number)
  }
}

extension OutgoingMessage {
  /// A message with a number as its payload.
  static func numbered(_ number: Int, _ quality: QualityOfService = .atLeastOnce, padding: Int = 0) -> OutgoingMessage {
    OutgoingMessage(
      topic: "t", payload: Array("\(number)".utf8) + [UInt8](repeating: 0x20, count: padding), quality: quality)
  }

  var number: Int? { Int(String(decoding: payload.filter { $0 != 0x20 }, as: UTF8.self)) }
}
