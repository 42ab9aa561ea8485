import Bluetooth
import FoundationEssentials

/// Messages as lines, line feed included, ready to be written.
public enum RPCEncoding {
  private struct Request<Params: Encodable>: Encodable {
    let jsonrpc = "2.0"
    let id: RequestID?
    let method: String
    let params: Params
  }
  private struct Success<Result: Encodable>: Encodable {
    let jsonrpc = "2.0"
    let id: RequestID
    let result: Result
  }
  private struct Failure: Encodable {
    let jsonrpc = "2.0"
    let id: RequestID?
    let error: RPCError

    enum CodingKeys: CodingKey { case jsonrpc, id, error }

    // JSON-RPC wants `"id": null` where the id is not known; a synthesized conformance would leave it out.
    func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: CodingKeys.self)
      try container.encode(jsonrpc, forKey: .jsonrpc)
      try container.encode(id, forKey: .id)
      try container.encode(error, forKey: .error)
    }
  }

  /// A call.
  public static func request<Method: RPCMethod>(
    _ method: Method.Type, id: RequestID, _ params: Method.Params
  ) throws -> Data {
    try line(Request(id: id, method: Method.name, params: params))
  }

  /// A message that wants no answer.
  public static func notification<Notification: RPCNotification>(
    _ notification: Notification.Type, _ params: Notification.Params
  ) throws -> Data {
    try line(Request(id: nil, method: Notification.name, params: params))
  }

  /// The answer to a call.
  public static func success(id: RequestID, _ result: some Encodable) throws -> Data {
    try line(Success(id: id, result: result))
  }

  /// The refusal of a call; without an id where it could not be read.
  public static func failure(id: RequestID?, _ error: RPCError) throws -> Data {
    try line(Failure(id: id, error: error))
  }

  private static func line(_ message: some Encodable) throws -> Data {
    let encoder = JSONEncoder()
    encoder.outputFormatting = .withoutEscapingSlashes
    var data = try encoder.encode(message)
    data.append(UInt8(ascii: "\n"))
    return data
  }
}
