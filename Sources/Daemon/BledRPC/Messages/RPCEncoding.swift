import FoundationEssentials

/// Messages as lines, line feed included, ready to be written.
public enum RPCEncoding {
  /// A call.
  @inlinable
  public static func request<Method: RPCMethod>(
    _ method: Method.Type, id: RequestID, _ params: Method.Params
  ) throws -> Data {
    var writer = JSONWriter(id: id, method: Method.name, body: "params")
    try params.write(to: &writer)
    return writer.finishMessage()
  }

  /// A notification.
  @inlinable
  public static func notification<Notification: RPCNotification>(
    _ notification: Notification.Type, _ params: Notification.Params
  ) throws -> Data {
    var writer = JSONWriter(method: Notification.name, body: "params")
    try params.write(to: &writer)
    return writer.finishMessage()
  }

  /// The result of a call.
  @inlinable
  public static func success(id: RequestID, _ result: some RPCPayload) throws -> Data {
    var writer = JSONWriter(id: id, body: "result")
    try result.write(to: &writer)
    return writer.finishMessage()
  }

  /// The result of a call that is JSON already.
  public static func success(id: RequestID, encoded result: Data) -> Data {
    var writer = JSONWriter(id: id, body: "result")
    writer.value(encoded: result)
    return writer.finishMessage()
  }

  /// The error that answers a call; without an id if that could not be read.
  public static func failure(id: RequestID?, _ error: RPCError) throws -> Data {
    var writer = JSONWriter(id: id, body: "error")
    try writer.encode(error)
    return writer.finishMessage()
  }
}

extension JSONWriter {
  /// Begins a message, up to the value of its member `body`.
  @usableFromInline init(method: String, body: StaticString) {
    self.init()
    begin()
    name("method")
    value(method)
    name(body)
  }

  /// Begins a message, up to the value of its member `body`.
  @usableFromInline init(id: RequestID?, method: String? = nil, body: StaticString) {
    self.init()
    begin()
    name("id")
    // JSON-RPC requires `"id": null` for an unknown id.
    if let id { value(id) } else { null() }
    if let method {
      name("method")
      value(method)
    }
    name(body)
  }

  private mutating func begin() { beginObject(#"{"jsonrpc":"2.0""#) }

  /// Ends the message, and gives its line.
  @usableFromInline mutating func finishMessage() -> Data {
    close("}")
    return finishLine()
  }

  fileprivate mutating func value(_ id: RequestID) {
    switch id {
    case .number(let number): value(number)
    case .text(let text): value(text)
    }
  }
}
