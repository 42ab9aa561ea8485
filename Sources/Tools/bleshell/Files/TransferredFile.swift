/// A file that was sent or received, for other programs.
struct TransferredFile: Encodable {
  let file: String
  let octets: UInt64
  let peer: String
}
