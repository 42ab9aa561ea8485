import COpenRPC
import FoundationEssentials

/// The protocol description embedded from docs/openrpc.json by the build.
enum ProtocolDocument {
  /// The document on one line, as the socket carries it: without the white space between its tokens.
  static var line: Data {
    var line: [UInt8] = []
    var (isString, isEscape) = (false, false)
    for octet in UnsafeRawBufferPointer(start: bled_openrpc(), count: bled_openrpc_length()) {
      if isString {
        isString = isEscape || octet != UInt8(ascii: "\"")
        isEscape = !isEscape && octet == UInt8(ascii: "\\")
      } else if octet == UInt8(ascii: "\n") || octet == UInt8(ascii: " ") {
        continue
      } else {
        isString = octet == UInt8(ascii: "\"")
      }
      line.append(octet)
    }
    return Data(line)
  }
}
