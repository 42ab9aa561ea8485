import Bluetooth
import FoundationEssentials

/// The id of a request and its response: a number or a string that the caller chose.
public enum RequestID: Hashable, Sendable, Codable {
  /// Maximum length of a string, in octets: it is held until the call is answered.
  static let longest = 128

  /// A number.
  case number(Int)
  /// A string.
  case text(String)

  /// Reads an integer or a string.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if let number = try? container.decode(Int.self) {
      self = .number(number)
    } else if let text = try? container.decode(String.self) {
      self = .text(text)
    } else {
      throw DecodingError.dataCorruptedError(in: container, debugDescription: "expected an integer or a string")
    }
  }

  /// Writes an integer or a string.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    switch self {
    case .number(let number): try container.encode(number)
    case .text(let text): try container.encode(text)
    }
  }
}

/// One received line, parsed as far as its kind; `params` and `result` are decoded once their type is known.
public struct RPCMessage: Sendable {
  /// The kinds of message.
  public enum Kind: Hashable, Sendable {
    /// A call that needs an answer.
    case request(id: RequestID, method: String)
    /// A message without an answer.
    case notification(method: String)
    /// The result of a call that we made: decode `result`.
    case success(id: RequestID)
    /// The error that answers a call that we made. Without an id the other side could not read which.
    case failure(id: RequestID?, RPCError)
  }

  /// Maximum elements of all lists in the params together. A service of a thousand characteristics has fewer.
  private static let maximumElements = 8192

  /// The kind of the message.
  public let kind: Kind
  @usableFromInline let line: Data
  /// The place of the params or the result in the line; nil if there are none.
  @usableFromInline let body: Range<Int>?

  /// The length of the line, in octets.
  public var length: Int { line.count }

  /// Parses one line (without its line feed).
  /// - Throws: `RefusedLine`, with the error to answer.
  public init(line: Data) throws(RefusedLine) {
    self.line = line
    if let envelope = PlainEnvelope(line) {
      kind = envelope.kind
      body = envelope.body
      return
    }
    let envelope = try line.withUnsafeBytes { octets in
      octets.withMemoryRebound(to: UInt8.self) { codes in
        Result { () throws(RefusedLine) in try JSONEnvelope(codes) }
      }
    }.get()
    kind = envelope.kind
    body = envelope.body
  }

  /// Decodes the params; a missing `params` counts as `{}`.
  /// - Throws: `RPCError` with code `invalidParams`, naming the member that is wrong.
  @inlinable
  public func params<Params: RPCPayload>(_ type: Params.Type) throws(RPCError) -> Params {
    if let params = plain(type) { return params }
    return try decodedParams(type)
  }

  @usableFromInline
  func decodedParams<Params: RPCPayload>(_ type: Params.Type) throws(RPCError) -> Params {
    do {
      guard let body else { return try none(type) }
      return try decoded(
        type, at: body, name: "params", budget: JSONBudget(Self.maximumElements), used: UsedMembers(), isObject: true)
    } catch {
      throw RPCError(code: RPCError.invalidParams, message: explain(error))
    }
  }

  /// Decodes some of the params, and ignores the others.
  /// - Returns: nil if one of them has another type.
  public func concerned<Params: RPCPayload>(_ type: Params.Type) -> Params? {
    if let params = plain(type) { return params }
    guard let body else { return nil }
    return try? decoded(type, at: body, name: "params", budget: JSONBudget(Self.maximumElements), isObject: true)
  }

  /// Decodes params that are missing.
  private func none<Params: RPCPayload>(_ type: Params.Type) throws -> Params {
    let empty: StaticString = "{}"
    let codes = UnsafeBufferPointer(start: empty.utf8Start, count: empty.utf8CodeUnitCount)
    var scanner = JSONScanner(codes)
    if let params = Params(from: &scanner) { return params }
    return try Params(from: JSONReader(JSONText(codes: codes), at: codes.indices, name: nil))
  }

  /// Decodes the result of a `.success`.
  /// - Throws: `RPCError` with code `invalidRequest` if it is not valid for the method.
  @inlinable
  public func result<Result: RPCPayload>(_ type: Result.Type) throws(RPCError) -> Result {
    if let result = plain(type) { return result }
    return try decodedResult(type)
  }

  @usableFromInline
  func decodedResult<Result: RPCPayload>(_ type: Result.Type) throws(RPCError) -> Result {
    do {
      guard let body else { throw RPCError.invalid("it has no result") }
      return try decoded(type, at: body, name: "result")
    } catch {
      throw .invalid("the response is not valid for the call: " + explain(error))
    }
  }

  private func decoded<Value: RPCPayload>(
    _ type: Value.Type, at place: Range<Int>, name: StaticString, budget: JSONBudget? = nil, used: UsedMembers? = nil,
    isObject: Bool = false
  ) throws -> Value {
    try line.withUnsafeBytes { octets in
      try octets.withMemoryRebound(to: UInt8.self) { codes in
        let text = JSONText(codes: codes)
        let reader = JSONReader(text, at: place, name: name, budget: budget, used: used)
        // Params without members would accept anything.
        if isObject { _ = try reader.container(keyedBy: NoKeys.self) }
        let value = try Value(from: reader)
        try used?.check(text)
        return value
      }
    }
  }

  private enum NoKeys: CodingKey {}

  /// Decodes the params or the result if the type reads itself and they are of the plain form.
  @inlinable
  func plain<Value: RPCPayload>(_ type: Value.Type) -> Value? {
    guard let body else { return nil }
    return line.withUnsafeBytes { octets in
      octets.withMemoryRebound(to: UInt8.self) { codes in
        var scanner = JSONScanner(UnsafeBufferPointer(rebasing: codes[body]))
        guard let value = Value(from: &scanner), scanner.isAtEnd() else { return nil }
        return value
      }
    }
  }

  /// A line that is not a valid message, with the error that answers it.
  public struct RefusedLine: Error, Sendable {
    /// The id to answer with, if one could be read.
    public let id: RequestID?
    /// The error that answers the line.
    public let error: RPCError
  }
}

extension RPCError {
  /// The refusal of a message that is not valid.
  public static func invalid(_ message: String) -> RPCError { RPCError(code: invalidRequest, message: message) }
}
