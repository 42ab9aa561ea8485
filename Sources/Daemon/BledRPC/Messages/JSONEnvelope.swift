/// The envelope of any line that `PlainEnvelope` leaves: it is checked as a whole, then only the envelope's own members
/// are read.
struct JSONEnvelope {
  /// The kind of the message.
  let kind: RPCMessage.Kind
  /// The place of the params or the result, counted from the beginning of the line.
  let body: Range<Int>?

  /// The longest `error` of an answer, in octets.
  private static let longestError = 64 << 10

  /// Parses a line.
  /// - Throws: the error that answers it.
  init(_ codes: UnsafeBufferPointer<UInt8>) throws(RPCMessage.RefusedLine) {
    let fault = JSONChecker.check(codes)
    if let fault, fault == .syntax || fault == .trailingComma {
      throw RPCMessage.RefusedLine(id: nil, error: fault.error)
    }
    let text = JSONText(codes: codes)
    let line = text.value(in: codes.indices)
    guard text.kind(of: line) == UInt8(ascii: "{") else {
      throw RPCMessage.RefusedLine(
        id: nil, error: fault?.error ?? .invalid("a message is one object on one line; batches are not supported"))
    }
    var id: RequestID?
    do {
      let members = Members(text, line)
      id = try members.readID()
      if let fault { throw fault.error }
      (kind, body) = try members.message(id)
    } catch {
      throw RPCMessage.RefusedLine(id: id, error: error as? RPCError ?? .invalid(explain(error)))
    }
  }

  /// The places of the members that a message can have.
  private struct Members {
    private let text: JSONText
    private var jsonrpc: Range<Int>?
    private var id: Range<Int>?
    private var method: Range<Int>?
    private var params: Range<Int>?
    private var result: Range<Int>?
    private var error: Range<Int>?
    /// The name of a member that occurs more than once.
    private var repeated: StaticString?
    private var isIDRepeated = false

    init(_ text: JSONText, _ line: Range<Int>) {
      self.text = text
      let known: [(name: StaticString, place: WritableKeyPath<Members, Range<Int>?>)] = [
        ("jsonrpc", \.jsonrpc), ("id", \.id), ("method", \.method), ("params", \.params), ("result", \.result),
        ("error", \.error),
      ]
      for member in text.members(of: line) {
        guard let (name, place) = known.first(where: { text.isNamed(member, $0.name) }) else { continue }
        if self[keyPath: place] != nil {
          repeated = name
          isIDRepeated = isIDRepeated || place == \.id
        }
        self[keyPath: place] = member.value
      }
    }

    private func read<Value: Decodable>(_ range: Range<Int>, _ name: StaticString) throws -> Value {
      try Value(from: JSONReader(text, at: range, name: name))
    }

    /// The id; nil if it is missing or null.
    func readID() throws -> RequestID? {
      guard let place = self.id, !text.isNull(place) else { return nil }
      guard !isIDRepeated else { throw RPCError.invalid("\"id\" occurs more than once") }
      let id: RequestID = try read(place, "id")
      guard case .text(let string) = id, string.utf8.count > RequestID.longest else { return id }
      throw RPCError.invalid("the id has \(string.utf8.count) octets; the limit is \(RequestID.longest)")
    }

    func message(_ id: RequestID?) throws -> (RPCMessage.Kind, body: Range<Int>?) {
      if let repeated { throw RPCError.invalid("\"\(repeated)\" occurs more than once") }
      guard let jsonrpc else { throw RPCError.invalid("jsonrpc: missing") }
      let version: String = try read(jsonrpc, "jsonrpc")
      guard version.hasSameOctets(as: "2.0") else { throw RPCError.invalid("\"jsonrpc\" must be \"2.0\"") }
      let failure = error.flatMap { text.isNull($0) ? nil : $0 }
      if let place = method {
        let method: String = try read(place, "method")
        guard failure == nil else { throw RPCError.invalid("neither a request nor a response") }
        guard self.id != nil else { return (.notification(method: method), params) }
        guard let id else { throw RPCError.invalid("id: a request must not have the id null") }
        return (.request(id: id, method: method), params)
      }
      if let failure {
        guard failure.count <= longestError else {
          throw RPCError.invalid("\"error\" has \(failure.count) octets; the limit is \(longestError)")
        }
        return (.failure(id: id, try read(failure, "error")), nil)
      }
      guard let id, let result else { throw RPCError.invalid("neither a request nor a response") }
      return (.success(id: id), result)
    }
  }
}
