/// A document as it is written.
public struct EncodedDocument: Sendable {
  /// The file's content.
  public var octets: [UInt8]
  /// The remark to log, unless it was logged with the last write.
  public var remarks: [String]

  /// Makes a document.
  public init(octets: [UInt8], remarks: [String] = []) {
    self.octets = octets
    self.remarks = remarks
  }
}

/// The places of documents, by name. Used on the daemon's thread only.
public protocol DocumentStorage: AnyObject {
  /// The file with this name; nil if there is none.
  func read(_ name: String) throws(StoreError) -> [UInt8]?

  /// Moves an unreadable file out of the way, without overwriting files moved earlier.
  /// - Returns: its new place, for messages.
  func setAside(_ name: String) throws(StoreError) -> String

  /// Replaces the file with this name atomically: after a crash either the old or the new one exists.
  /// - Parameters:
  ///   - encode: returns the file's octets; may be called on another thread.
  ///   - done: called once with the remarks on the written files, never from inside this call.
  func write(
    _ name: String, _ encode: @escaping @Sendable () throws -> EncodedDocument,
    _ done: @escaping (Result<[String], any Error>) -> Void)
}
