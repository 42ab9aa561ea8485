/// Signatures: types one after the other (D-Bus Specification, Type System).
enum BusSignature {
  /// The complete types of a valid signature, "sa{sv}" as "s" and "a{sv}".
  static func types(of signature: String) -> [String] {
    var types: [String] = []
    var codes = Array(signature.utf8)[...]
    while !codes.isEmpty {
      let length = lengthOfFirst(codes)
      types.append(String(decoding: codes.prefix(length), as: UTF8.self))
      codes = codes.dropFirst(length)
    }
    return types
  }

  private static func lengthOfFirst(_ codes: ArraySlice<UInt8>) -> Int {
    var depth = 0
    for (offset, code) in codes.enumerated() {
      switch code {
      case UInt8(ascii: "a"): continue
      case UInt8(ascii: "("), UInt8(ascii: "{"): depth += 1
      case UInt8(ascii: ")"), UInt8(ascii: "}"): depth -= 1
      default: break
      }
      if depth == 0 { return offset + 1 }
    }
    return codes.count
  }
}
