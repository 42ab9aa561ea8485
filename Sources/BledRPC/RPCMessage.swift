import Bluetooth
import FoundationEssentials

/// The id of a request and its response: a number or a string that the caller chose.
public enum RequestID: Hashable, Sendable, Codable {
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
    /// A message that needs none.
    case notification(method: String)
    /// The result of a call that we made: decode `result`.
    case success(id: RequestID)
    /// The error that answers a call that we made. Without an id the other side could not read which.
    case failure(id: RequestID?, RPCError)
  }

  /// What kind of message it is.
  public let kind: Kind
  @usableFromInline let line: Data
  /// Where in the line the params or the result are; nil if there are none, or if that was not looked for.
  @usableFromInline private(set) var body: Range<Int>?
  /// Whether the line is of the plain form, so that what has no place in it is not there.
  private var isPlain = false

  private struct Head: Decodable {
    var jsonrpc: String
    var id: RequestID?
    var hasID: Bool
    var method: String?
    var error: RPCError?

    enum CodingKeys: CodingKey { case jsonrpc, id, method, error }

    init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: CodingKeys.self)
      jsonrpc = try container.decode(String.self, forKey: .jsonrpc)
      id = try container.decodeIfPresent(RequestID.self, forKey: .id)
      hasID = container.contains(.id)
      method = try container.decodeIfPresent(String.self, forKey: .method)
      error = try container.decodeIfPresent(RPCError.self, forKey: .error)
    }
  }
  private struct WithID: Decodable { var id: RequestID }
  private struct ParamsOnly<Params: Decodable>: Decodable {
    var params: Params

    enum CodingKeys: CodingKey { case params }
    enum NoKeys: CodingKey {}

    init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: CodingKeys.self)
      // Params without members would accept anything.
      _ = try container.nestedContainer(keyedBy: NoKeys.self, forKey: .params)
      params = try container.decode(Params.self, forKey: .params)
    }
  }
  private struct ResultOnly<Result: Decodable>: Decodable { var result: Result }

  /// Parses one line (without its line feed).
  /// - Throws: `RefusedLine`, with the error to answer.
  public init(line: Data) throws(RefusedLine) {
    self.line = line
    if let envelope = PlainEnvelope(line) {
      kind = envelope.kind
      body = envelope.body
      isPlain = true
      return
    }
    // JSONDecoder accepts such commas.
    guard !JSONScanner.hasTrailingComma(line) else {
      throw RefusedLine(
        id: nil,
        error: RPCError(
          code: RPCError.parseError, message: "the line is not valid JSON: there is a comma before a closing bracket"))
    }
    let head: Head
    do {
      head = try JSONDecoder().decode(Head.self, from: line)
    } catch let error as DecodingError {
      throw RefusedLine(error, in: line)
    } catch {
      throw RefusedLine(id: nil, error: RPCError(code: RPCError.parseError, message: "\(error)"))
    }
    guard head.jsonrpc == "2.0" else {
      throw RefusedLine(id: head.id, error: .invalid("\"jsonrpc\" must be \"2.0\""))
    }
    switch (head.method, head.id, head.error) {
    case (let method?, let id?, nil): kind = .request(id: id, method: method)
    case (let method?, nil, nil) where !head.hasID: kind = .notification(method: method)
    case (.some, nil, nil): throw RefusedLine(id: nil, error: .invalid("id: a request must not have the id null"))
    case (nil, let id, let error?): kind = .failure(id: id, error)
    case (nil, let id?, nil): kind = .success(id: id)
    default: throw RefusedLine(id: head.id, error: .invalid("neither a request nor a response"))
    }
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
    if let params = decoded(type) { return params }
    if isPlain, body == nil { return try none(type) }
    do {
      return try JSONDecoder().decode(ParamsOnly<Params>.self, from: line).params
    } catch DecodingError.keyNotFound(let key, let context)
      where key.stringValue == "params" && context.codingPath.isEmpty
    {
      return try none(type)
    } catch {
      throw RPCError(code: RPCError.invalidParams, message: explain(error))
    }
  }

  /// Decodes params that are missing.
  private func none<Params: RPCPayload>(_ type: Params.Type) throws(RPCError) -> Params {
    let empty = Data("{}".utf8)
    let params = empty.withUnsafeBytes { octets in
      octets.withMemoryRebound(to: UInt8.self) { codes in
        var scanner = JSONScanner(codes)
        return Params(from: &scanner)
      }
    }
    if let params { return params }
    do {
      return try JSONDecoder().decode(Params.self, from: empty)
    } catch {
      throw RPCError(code: RPCError.invalidParams, message: explain(error))
    }
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
    if let result = decoded(type) { return result }
    do {
      return try JSONDecoder().decode(ResultOnly<Result>.self, from: line).result
    } catch {
      throw .invalid("the response is not valid for the call: " + explain(error))
    }
  }

  /// Decodes the params or the result without parsing the rest of the line again.
  /// - Returns: nil if that fails; the reason must be determined from the whole line, so that it names the place.
  private func decoded<Value: RPCPayload>(_ type: Value.Type) -> Value? {
    guard let body else { return nil }
    return try? JSONDecoder().decode(
      type, from: line[line.startIndex + body.lowerBound..<line.startIndex + body.upperBound])
  }

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
    /// What is wrong.
    public let error: RPCError

    fileprivate init(id: RequestID?, error: RPCError) {
      self.id = id
      self.error = error
    }

    fileprivate init(_ error: DecodingError, in line: Data) {
      switch error {
      case .dataCorrupted(let context) where context.codingPath.isEmpty:
        self.init(id: nil, error: RPCError(code: RPCError.parseError, message: "the line is not valid JSON"))
      case .typeMismatch(_, let context) where context.codingPath.isEmpty:
        self.init(id: nil, error: .invalid("a message is one object on one line; batches are not supported"))
      default:
        let id = try? JSONDecoder().decode(WithID.self, from: line).id
        self.init(id: id, error: .invalid(explain(error)))
      }
    }
  }
}

extension RPCError {
  static func invalid(_ message: String) -> RPCError { RPCError(code: invalidRequest, message: message) }
}
