/// A message of the API with its number; the content is encoded.
package struct APIFrame: Hashable {
  package let type: UInt32
  package let payload: [UInt8]

  package init(type: UInt32, payload: [UInt8] = []) {
    self.type = type
    self.payload = payload
  }
}

/// The reasons for disconnecting a client.
package enum APIFault: Error, Hashable {
  /// The first octet of a frame does not belong to the protocol.
  case badIndicator
  /// The client does not encrypt, and this side does, or the reverse.
  case encryptionMismatch
  /// A frame is longer than any of this API.
  case tooLong
  /// The handshake failed: most often the client has another key.
  case wrongKey
  /// A frame after the handshake was changed or left out.
  case notAuthentic
  /// A frame does not have the parts that it must have.
  case malformed
}
