import Bluetooth

extension Array {
  /// The values of words in a scan's parameters, which session.list shows to clients of other releases.
  /// - Parameter place: the list's name in errors: "phys".
  /// - Throws: `BledError.invalidParameter` for an unknown word.
  func known<Known>(at place: String) throws(BluetoothError) -> [Known] where Element == Word<Known> {
    var values: [Known] = []
    for word in self {
      guard let known = word.known else {
        throw BledError.invalidParameter.error(
          "\"\(place)\": \"\(word.text.excerpt)\" is not one of \(Known.list)")
      }
      values.append(known)
    }
    return values
  }
}
