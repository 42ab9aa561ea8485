/// A document as it is written.
public struct EncodedDocument: Sendable {
  /// The file's content.
  public var octets: [UInt8]
  /// What the log is to say about it, unless it said so with the last write.
  public var remarks: [String]

  /// Makes a document.
  public init(octets: [UInt8], remarks: [String] = []) {
    self.octets = octets
    self.remarks = remarks
  }
}

/// Where documents are kept, by name. Used on the daemon's thread only.
public protocol DocumentStorage: AnyObject {
  /// The file of this name; nil if there is none.
  func read(_ name: String) throws(StoreError) -> [UInt8]?

  /// Puts a file that does not read out of the way.
  /// - Returns: where it is now, for people.
  func setAside(_ name: String) throws(StoreError) -> String

  /// Replaces the file of this name by another one as a whole: whenever the machine stops, there is the one or the other.
  /// - Parameters:
  ///   - encode: gives the file's octets; may be called on another thread.
  ///   - done: called once with the remarks on what was written, not from inside of this call.
  func write(
    _ name: String, _ encode: @escaping @Sendable () throws -> EncodedDocument,
    _ done: @escaping (Result<[String], any Error>) -> Void)
}
