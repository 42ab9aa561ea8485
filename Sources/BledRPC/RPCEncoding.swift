import FoundationEssentials

/// Messages as lines, line feed included, ready to be written.
public enum RPCEncoding {
  /// A call.
  public static func request<Method: RPCMethod>(
    _ method: Method.Type, id: RequestID, _ params: Method.Params
  ) throws -> Data {
    try line {
      $0.name("id")
      $0.value(id)
      $0.name("method")
      $0.value(Method.name)
      $0.name("params")
      try $0.value(any: params)
    }
  }

  /// A notification.
  public static func notification<Notification: RPCNotification>(
    _ notification: Notification.Type, _ params: Notification.Params
  ) throws -> Data {
    try line {
      $0.name("method")
      $0.value(Notification.name)
      $0.name("params")
      try $0.value(any: params)
    }
  }

  /// The result of a call.
  public static func success(id: RequestID, _ result: some Encodable) throws -> Data {
    try line {
      $0.name("id")
      $0.value(id)
      $0.name("result")
      try $0.value(any: result)
    }
  }

  /// The error that answers a call; without an id if that could not be read.
  public static func failure(id: RequestID?, _ error: RPCError) throws -> Data {
    try line {
      // JSON-RPC requires `"id": null` if the id is not known.
      $0.name("id")
      if let id { $0.value(id) } else { $0.null() }
      $0.name("error")
      try $0.value(any: error)
    }
  }

  private static func line(_ members: (inout JSONWriter) throws -> Void) rethrows -> Data {
    var writer = JSONWriter()
    try writer.object {
      $0.name("jsonrpc")
      $0.value("2.0")
      try members(&$0)
    }
    return writer.line
  }
}

extension JSONWriter {
  fileprivate mutating func value(_ id: RequestID) {
    switch id {
    case .number(let number): value(number)
    case .text(let text): value(text)
    }
  }
}
