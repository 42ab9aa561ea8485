import Bluetooth

/// The `error` member of a JSON-RPC response.
public struct RPCError: Error, Codable, Sendable, Hashable {
  /// What kind of failure: the reserved numbers of JSON-RPC, or `operationFailed` with `data`.
  public var code: Int
  /// A sentence for people.
  public var message: String
  /// The failure in the field's own terms; present if and only if `code` is `operationFailed`.
  public var data: Details?

  /// The failure in the field's own terms.
  public struct Details: Codable, Sendable, Hashable {
    /// Who defines the code: att, hci, gap or bled.
    public var domain: BluetoothError.Domain
    /// The number in that domain.
    public var code: Int
    /// Its name there.
    public var name: String
  }

  /// The line is no JSON.
  public static let parseError = -32700
  /// The JSON is no JSON-RPC 2.0 message.
  public static let invalidRequest = -32600
  /// There is no such method.
  public static let methodNotFound = -32601
  /// The params do not fit the method.
  public static let invalidParams = -32602
  /// The daemon could not do what it should have (JSON-RPC 2.0, 5.1).
  public static let internalError = -32603
  /// The request was understood and could not be done; see `data`.
  public static let operationFailed = -32000

  /// Makes an error of the protocol itself.
  public init(code: Int, message: String) {
    self.code = code
    self.message = message
  }

  /// Makes the error that says why an operation failed.
  public init(_ error: BluetoothError) {
    code = Self.operationFailed
    message = error.message
    data = Details(domain: error.domain, code: error.code, name: error.name)
  }

  /// The failure in the field's own terms; an error of the protocol itself becomes domain `bled`.
  public var bluetoothError: BluetoothError {
    guard let data else { return BledError.invalidParameter.error(message) }
    return BluetoothError(domain: data.domain, code: data.code, name: data.name, message: message)
  }
}
