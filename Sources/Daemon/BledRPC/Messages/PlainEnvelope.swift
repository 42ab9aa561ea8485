import FoundationEssentials

/// The envelope of a line of the plain form: a call, a notification or a result, but not an error.
struct PlainEnvelope {
  /// The kind of the message.
  let kind: RPCMessage.Kind
  /// The place of the params or the result, counted from the beginning of the line.
  let body: Range<Int>?

  /// Parses a line in one pass.
  /// - Returns: nil for any other form, valid or not.
  init?(_ line: Data) {
    let envelope = line.withUnsafeBytes { octets in
      octets.withMemoryRebound(to: UInt8.self) { Self.read($0) }
    }
    guard let envelope else { return nil }
    self = envelope
  }

  private init(kind: RPCMessage.Kind, body: Range<Int>?) {
    self.kind = kind
    self.body = body
  }

  private static func read(_ codes: UnsafeBufferPointer<UInt8>) -> PlainEnvelope? {
    var scanner = JSONScanner(codes)
    var isVersion2 = false
    var id: RequestID?
    var method: String?
    var params: Range<Int>?
    var result: Range<Int>?
    let isObject = scanner.object { name, scanner in
      switch name {
      case "jsonrpc":
        guard !isVersion2, let version = scanner.text(), case "2.0" = version else { return false }
        isVersion2 = true
        return true
      case "id":
        guard id == nil else { return false }
        id = scanner.requestID()
        return id != nil
      case "method":
        guard method == nil else { return false }
        method = scanner.text()?.string
        return method != nil
      case "params":
        guard params == nil else { return false }
        params = scanner.isAtObject ? scanner.skip() : nil
        return params != nil
      case "result":
        guard result == nil else { return false }
        result = scanner.isAtObject ? scanner.skip() : nil
        return result != nil
      case "error": return false
      default: return scanner.skip() != nil
      }
    }
    guard isObject, isVersion2, scanner.isAtEnd() else { return nil }
    switch (method, id) {
    case (let method?, let id?): return PlainEnvelope(kind: .request(id: id, method: method), body: params)
    case (let method?, nil): return PlainEnvelope(kind: .notification(method: method), body: params)
    case (nil, let id?) where result != nil: return PlainEnvelope(kind: .success(id: id), body: result)
    case (nil, _): return nil
    }
  }
}

extension JSONScanner {
  fileprivate mutating func requestID() -> RequestID? {
    guard isAtText else { return integer().map { .number($0) } }
    guard let text = text(), text.count <= RequestID.longest else { return nil }
    return .text(text.string)
  }
}
