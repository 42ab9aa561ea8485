import BledRPC
import Foundation
import Glibc

/// Stands between clients and a real daemon, and alters the daemon's answers and events: numbers, texts, lists and
/// members, in an order given by the seed. The answered call and the kind of event stay.
final class LyingDaemon: Sendable {
  let socketPath: String
  private let listener: CInt

  /// - Parameter seed: the seed for the alterations of each connection; 0: times, values and counts are as large as
  ///   possible.
  init(before daemon: DaemonProcess, seed: UInt64) throws {
    let (path, truth) = ("\(daemon.folder.path)/lies-\(seed).sock", daemon.socketPath)
    let listener = try UnixSocket.listen(path)
    (socketPath, self.listener) = (path, listener)
    Self.onThread {
      while case let client = accept(listener, nil, nil), client >= 0 {
        guard let server = try? UnixSocket.connect(truth) else { break }
        Self.onThread { Self.copy(from: client, to: server) }
        Self.onThread { Self.alter(from: server, to: client, seed) }
      }
    }
  }

  deinit {
    shutdown(listener, CInt(SHUT_RDWR))
    close(listener)
  }

  private static func onThread(_ work: @escaping @Sendable () -> Void) {
    // Neither the tests' nor the pool's threads: these block.
    Thread.detachNewThread(work)
  }

  private static func copy(from client: CInt, to server: CInt) {
    var octets = [UInt8](repeating: 0, count: 65_536)
    while case let count = recv(client, &octets, octets.count, 0), count > 0 {
      _ = send(server, octets, count, CInt(MSG_NOSIGNAL))
    }
    shutdown(server, CInt(SHUT_RDWR))
  }

  private static func alter(from server: CInt, to client: CInt, _ seed: UInt64) {
    var lies = Lies(seed: seed)
    var framer = LineFramer(limit: 64 << 20)
    var octets = [UInt8](repeating: 0, count: 65_536)
    while case let count = recv(server, &octets, octets.count, 0), count > 0 {
      framer.append(octets[..<count])
      while let line = try? framer.next() {
        guard let text = try? JSONEncoder().encode(lies.about(line)) else { continue }
        let altered = [UInt8](text) + [UInt8(ascii: "\n")]
        _ = send(client, altered, altered.count, CInt(MSG_NOSIGNAL))
      }
    }
    shutdown(client, CInt(SHUT_RDWR))
    close(client)
    close(server)
  }
}

/// Alters values; each draw follows from the seed (SplitMix64).
private struct Lies {
  private var state: UInt64
  private let isExtreme: Bool

  init(seed: UInt64) { (state, isExtreme) = (seed, seed == 0) }

  private mutating func draw(_ bound: Int) -> Int {
    state &+= 0x9E37_79B9_7F4A_7C15
    var word = state
    word = (word ^ word >> 30) &* 0xBF58_476D_1CE4_E5B9
    word = (word ^ word >> 27) &* 0x94D0_49BB_1331_11EB
    return Int((word ^ word >> 31) % UInt64(bound))
  }

  mutating func about(_ line: Data) -> JSONValue {
    guard let message = try? JSONDecoder().decode(JSONValue.self, from: line), case .object(var members) = message
    else { return .null }
    for name in ["result", "params", "error"] {
      members[name] = members[name].map { isExtreme ? Self.extreme($0) : alter($0, depth: 0) }
    }
    return .object(members)
  }

  private mutating func alter(_ value: JSONValue, depth: Int) -> JSONValue {
    switch value {
    case .object(let members):
      var altered: [String: JSONValue] = [:]
      // In the order of names, so that equal seeds draw equally.
      for (name, member) in members.sorted(by: { $0.key < $1.key }) {
        // The greeting must be right, or there is nothing else.
        if depth == 0, name == "protocol" {
          altered[name] = member
        } else if draw(60) > 0 {
          altered[name] = alter(member, depth: depth + 1)
        }
      }
      return .object(altered)
    case .array(let elements):
      switch draw(20) {
      case 0: return .array([])
      case 1: return .array(elements + elements.map { alter($0, depth: depth + 1) })
      default: return .array(elements.map { alter($0, depth: depth + 1) })
      }
    case .integer, .number: return draw(4) == 0 ? number() : value
    case .text(let text): return draw(10) == 0 ? .text(other(text)) : value
    case .bool(let bool): return draw(6) == 0 ? .bool(!bool) : value
    case .null: return value
    }
  }

  /// Times, values and counts as large as they can be, and all else as it is.
  private static func extreme(_ value: JSONValue, named name: String = "") -> JSONValue {
    switch value {
    case .object(let members):
      return .object(Dictionary(uniqueKeysWithValues: members.map { ($0.key, extreme($0.value, named: $0.key)) }))
    case .array(let elements): return .array(elements.map { extreme($0, named: name) })
    case .integer, .number:
      switch name {
      case "scanTime", "linkTime", "interval", "value", "time", "since": return .number(1e300)
      case "count": return .integer(.max)
      default: return value
      }
    default: return value
    }
  }

  private mutating func number() -> JSONValue {
    switch draw(10) {
    case 0: .number(1e300)
    case 1: .number(-1e300)
    case 2: .number(1e19)
    case 3: .number(0.1)
    case 4: .integer(.max)
    case 5: .integer(.min)
    case 6: .integer(65_536)
    case 7: .integer(-1)
    case 8: .number(9.3e18)
    default: .integer(0)
    }
  }

  private mutating func other(_ text: String) -> String {
    switch draw(6) {
    case 0: ""
    case 1: "\u{1B}]0;x\u{7}\u{9B}2J\u{202E}" + text
    case 2: String(repeating: text + "e\u{301}", count: 200)
    case 3: String(text.prefix(1))
    case 4: "=1+1"
    default: text + "\u{0}"
    }
  }
}
