/// The properties of an object's interface, in the order of their names, in the form in which they are sent.
struct PropertyTable {
  /// The entries of `a{sv}`.
  private(set) var entries: [BusValue.Entry] = []

  init(_ properties: ObjectTree.Properties) {
    for (name, value) in properties { self[name] = value }
  }

  /// The value of a property; nil if it has none.
  subscript(name: String) -> BusValue? {
    get {
      let place = place(of: name)
      return isName(name, at: place) ? entries[place].value.unwrapped : nil
    }
    set {
      let place = place(of: name)
      switch (newValue, isName(name, at: place)) {
      case (let value?, true): entries[place].value = .variant(value)
      case (let value?, false): entries.insert(BusValue.Entry(.string(name), .variant(value)), at: place)
      case (nil, true): entries.remove(at: place)
      case (nil, false): break
      }
    }
  }

  /// `a{sv}`
  var value: BusValue { .dictionary(key: "s", value: "v", entries) }

  private func isName(_ name: String, at place: Int) -> Bool {
    place < entries.count && Self.name(entries[place]) == name
  }

  /// The place of the first name that is not before this one.
  private func place(of name: String) -> Int {
    var (low, high) = (0, entries.count)
    while low < high {
      let middle = (low + high) / 2
      if Self.name(entries[middle]) < name { low = middle + 1 } else { high = middle }
    }
    return low
  }

  private static func name(_ entry: BusValue.Entry) -> String {
    if case .string(let name) = entry.key { name } else { "" }
  }
}
