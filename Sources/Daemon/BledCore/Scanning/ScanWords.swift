import Bluetooth

extension Array {
  /// The values of words in the parameters of a scan, which session.list shows to clients of other releases.
  /// - Parameter place: the name of the list in errors: "phys".
  /// - Throws: `BledError.invalidParameter` for a word that this release does not know.
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
