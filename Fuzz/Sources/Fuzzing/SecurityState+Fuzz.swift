import GATT

extension SecurityState {
  /// Any state that a link can be in.
  public init(_ input: inout FuzzInput) {
    let octet = input.octet()
    let level = octet & 3 + 1
    self.init(
      level: level, keySize: level > 1 ? 7 + octet >> 2 & 7 + octet >> 5 & 1 * 2 : 0, isBonded: octet & 0x40 != 0,
      isAuthorized: octet & 0x80 != 0)
  }
}
