import JSONFiles

extension FileMembers {
  /// A value written as hex or as text, repeated up to a length.
  package func template(value: Name, text: Name, length: Name) throws(FileError) -> [UInt8] {
    let limit = ValueDescription.longest
    var octets: [UInt8] = []
    if let text = self[text] {
      guard self[value] == nil else {
        throw text.failure("the value is given twice: give either \"value\" or \"text\"")
      }
      octets = Array(try text.text().utf8)
      guard octets.count <= limit else { throw text.failure("the text is longer than \(limit) octets: shorten it") }
    } else if let value = self[value] {
      octets = try value.octets(atMost: limit)
    }
    guard let length = self[length] else { return octets }
    let count = try length.integer(in: 0...limit)
    return octets.isEmpty ? Array(repeating: 0, count: count) : (0..<count).map { octets[$0 % octets.count] }
  }
}
