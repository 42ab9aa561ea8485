/// The files of the spool, by their numbers.
package protocol SpoolStore: AnyObject {
  /// The existing files, with their lengths in octets.
  func files() throws -> [(number: UInt64, length: Int)]
  /// The content of a file, of at most `limit` octets.
  func read(_ number: UInt64, limit: Int) throws -> [UInt8]
  /// Adds octets to the end of a file, all of them or, if it throws, none; the first ones create the file.
  func append(_ octets: [UInt8], to number: UInt64) throws
  /// Replaces one octet.
  func set(_ octet: UInt8, at offset: Int, of number: UInt64) throws
  func remove(_ number: UInt64) throws
  /// Moves an unusable file to where a person may look at it; there is room for few.
  func moveAside(_ number: UInt64) throws
}
