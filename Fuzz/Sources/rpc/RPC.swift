import BledRPC
import Fuzzing

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Lines of the socket, whole and in pieces: cut into lines, understood, their params decoded, encoded and decoded
/// again.
@main
enum RPC {
  static func main() {
    fuzz { octets in
      var input = FuzzInput(octets)
      let limit = 16 + Int(input.word() & 0x0FFF)
      let size = 1 + Int(input.octet())
      let stream = input.remainder()
      let lines = cut(stream, limit: limit, size: max(stream.count, 1))
      invariant(cut(stream, limit: limit, size: size) == lines, "the pieces change the lines")
      for case .some(let line) in lines { check(line) }
    }
  }

  /// The lines of a stream that comes in pieces; nil for one that was too long.
  private static func cut(_ stream: [UInt8], limit: Int, size: Int) -> [Data?] {
    var framer = LineFramer(limit: limit)
    var lines: [Data?] = []
    var rest = stream[...]
    while !rest.isEmpty {
      framer.append(rest.prefix(size))
      rest = rest.dropFirst(size)
      invariant(framer.buffered <= limit + size, "\(framer.buffered) octets are held")
      var isMore = true
      while isMore {
        do throws(LineFramer.TooLong) {
          let line = try framer.next()
          isMore = line != nil
          guard let line else { break }
          invariant(!line.isEmpty && line.count <= limit && !line.contains(10), "no line: \(line)")
          lines.append(line)
        } catch {
          lines.append(nil)
        }
      }
      invariant(framer.buffered <= limit, "\(framer.buffered) octets are held")
    }
    return lines
  }

  /// The same message with another member, whose name is written in a way that only `JSONReader` reads: it must be
  /// understood as what is read in one pass, or refused alike.
  private static func disguised(_ line: Data) -> Data? {
    guard let start = line.firstIndex(of: UInt8(ascii: "{")), line[start...].dropFirst().first == UInt8(ascii: "\"")
    else { return nil }
    return line[...start] + Data(#""\u0066":0,"#.utf8) + line[start...].dropFirst()
  }

  private static func check(_ line: Data) {
    let message: RPCMessage
    var other: RPCMessage?
    do throws(RPCMessage.RefusedLine) {
      if let disguised = disguised(line) {
        other = try? RPCMessage(line: disguised)
        invariant((try? RPCMessage(line: line))?.kind == other?.kind, "one pass understands another message")
      }
      message = try RPCMessage(line: line)
    } catch {
      invariant((try? RPCEncoding.failure(id: error.id, error.error)) != nil, "no answer to a line that was refused")
      return
    }
    switch message.kind {
    case .request(let id, let method):
      for type in calls where type.name == method {
        checkCall(message, other, id, type)
      }
    case .notification(let method):
      for type in ProtocolContents.notifications where type.name == method { checkNotification(message, other, type) }
    case .success(let id):
      for type in calls { checkResult(message, other, id, type) }
    case .failure(_, let error): _ = error.bluetoothError
    }
  }

  private static let calls: [any RPCMethod.Type] =
    ProtocolContents.clientCalls.map { $0 } + ProtocolContents.daemonCalls.map { $0 }

  private static func checkCall<Method: RPCMethod>(
    _ message: RPCMessage, _ other: RPCMessage?, _ id: RequestID, _: Method.Type
  ) {
    let decoded = try? message.params(Method.Params.self)
    if let other { compare(decoded, try? other.params(Method.Params.self), Method.name) }
    guard let params = decoded else { return }
    guard let line = try? RPCEncoding.request(Method.self, id: id, params),
      let again = try? RPCMessage(line: line.dropLast()), again.kind == message.kind
    else { return invariant(false, "\(Method.name): its own line is not understood") }
    compare(params, try? again.params(Method.Params.self), Method.name)
  }

  private static func checkNotification<Notification: RPCNotification>(
    _ message: RPCMessage, _ other: RPCMessage?, _: Notification.Type
  ) {
    let decoded = try? message.params(Notification.Params.self)
    if let other { compare(decoded, try? other.params(Notification.Params.self), Notification.name) }
    guard let params = decoded else { return }
    guard let line = try? RPCEncoding.notification(Notification.self, params),
      let again = try? RPCMessage(line: line.dropLast()), again.kind == message.kind
    else { return invariant(false, "\(Notification.name): its own line is not understood") }
    compare(params, try? again.params(Notification.Params.self), Notification.name)
  }

  private static func checkResult<Method: RPCMethod>(
    _ message: RPCMessage, _ other: RPCMessage?, _ id: RequestID, _: Method.Type
  ) {
    let decoded = try? message.result(Method.Result.self)
    if let other { compare(decoded, try? other.result(Method.Result.self), Method.name) }
    guard let result = decoded else { return }
    guard let line = try? RPCEncoding.success(id: id, result), let again = try? RPCMessage(line: line.dropLast()),
      again.kind == message.kind
    else { return invariant(false, "\(Method.name): its own answer is not understood") }
    compare(result, try? again.result(Method.Result.self), Method.name)
  }

  /// Params and results are not comparable, but what they are written as is.
  private static func compare<Value: Encodable>(_ first: Value?, _ second: Value?, _ name: String) {
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    guard let first, let second else {
      return invariant(first == nil && second == nil, "\(name): one of two ways does not read it")
    }
    guard let left = try? encoder.encode(first), let right = try? encoder.encode(second) else {
      return invariant(false, "\(name): what was read cannot be written")
    }
    invariant(left == right, "\(name): \(String(decoding: left, as: UTF8.self)) became another")
  }
}
