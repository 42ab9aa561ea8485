/// Counts lost links of an upload, which ends after several in a row without progress.
struct UploadLosses {
  /// How often the link may be lost without progress.
  private static let most = 5

  private var greatest = 0
  private var count = 0

  /// The link was lost.
  /// - Parameter offset: The octets that the device has, which may be fewer than before.
  /// - Returns: True if the upload is to be continued.
  mutating func add(at offset: Int) -> Bool {
    count = offset > greatest ? 0 : count + 1
    greatest = max(greatest, offset)
    return count < Self.most
  }
}
