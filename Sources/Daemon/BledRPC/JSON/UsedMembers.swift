import Bluetooth

/// The members of a message's objects that decoding requested: any other is unknown, most likely a typing mistake.
///
/// | Object                             | Its other members                    |
/// |------------------------------------|--------------------------------------|
/// | read member by member              | refused, except those named `x-…`    |
/// | read as a dictionary, or not at all | anything                            |
final class UsedMembers {
  private struct Object {
    let range: Range<Int>
    let path: () -> [any CodingKey]
    var names: [String] = []
    var isDictionary = false
  }

  /// By the position at which they begin.
  private var objects: [Int: Object] = [:]

  /// An object is read.
  func began(_ range: Range<Int>, at path: @autoclosure @escaping () -> [any CodingKey]) {
    if objects[range.lowerBound] == nil { objects[range.lowerBound] = Object(range: range, path: path) }
  }

  /// A member of it was requested.
  func asked(_ name: String, of range: Range<Int>) {
    // A list has many objects that are read in the same way; each requests a name once.
    objects[range.lowerBound]?.names.append(name)
  }

  /// All its members were requested.
  func askedAll(of range: Range<Int>) { objects[range.lowerBound]?.isDictionary = true }

  /// Checks that no object has a member that was not read.
  func check(_ text: JSONText) throws(DecodingError) {
    for (_, object) in objects.sorted(by: { $0.key < $1.key }) where !object.isDictionary {
      let known = Set(object.names.map { OctetText($0) })
      for member in text.members(of: object.range) {
        guard let name = text.string(member.name) else { continue }
        guard !known.contains(OctetText(name)), !name.utf8.starts(with: "x-".utf8) else { continue }
        let choices = Set(object.names).sorted().map { "\"\($0)\"" }.joined(separator: ", ")
        throw .dataCorrupted(
          .init(
            codingPath: object.path(),
            debugDescription: "\"\(name)\" is not known here; there is \(choices.isEmpty ? "nothing" : choices)"))
      }
    }
  }
}
