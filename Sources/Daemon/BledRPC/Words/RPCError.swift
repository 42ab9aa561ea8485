import Bluetooth

/// The `error` member of a JSON-RPC response.
public struct RPCError: Error, Codable, Sendable, Hashable {
  /// The kind of failure, -32768 to -32000: one of JSON-RPC's reserved codes, or -32000 with `data`.
  public var code: Int
  /// The error and its remedy, in words.
  public var message: String
  /// The failure in Bluetooth's own terms; present if and only if `code` is -32000.
  public var data: Details?

  /// The failure in Bluetooth's own terms.
  public struct Details: Codable, Sendable, Hashable {
    /// The domain that defines the code: att, hci, gap or bled.
    public var domain: Word<BluetoothError.Domain>
    /// The code within that domain, 0 to 255; docs/reference.md lists them.
    public var code: Int
    /// The name of the code.
    public var name: String
  }

  /// The line is not valid JSON.
  public static let parseError = -32700
  /// The JSON is not a JSON-RPC 2.0 message.
  public static let invalidRequest = -32600
  /// The method does not exist.
  public static let methodNotFound = -32601
  /// The params are not valid for the method.
  public static let invalidParams = -32602
  /// An internal error of the daemon (JSON-RPC 2.0, 5.1).
  public static let internalError = -32603
  /// The request was valid, but the operation failed; see `data`.
  public static let operationFailed = -32000

  /// Makes an error of the protocol itself.
  public init(code: Int, message: String) {
    self.code = code
    self.message = message
  }

  /// Makes an error from the reason why an operation failed.
  public init(_ error: BluetoothError) {
    code = Self.operationFailed
    message = error.message
    data = Details(domain: Word(error.domain), code: error.code, name: error.name)
  }

  /// The failure in Bluetooth's own terms; an error of the protocol itself gets the domain `bled`.
  public var bluetoothError: BluetoothError {
    guard let data else { return BledError.invalidParameter.error(message) }
    return BluetoothError(domain: data.domain.known ?? .bled, code: data.code, name: data.name, message: message)
  }
}
