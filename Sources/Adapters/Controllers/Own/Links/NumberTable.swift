/// Values under numbers of 16 bits: handles of links, numbers of channels. They are few and are looked up with each
/// packet: a walk along them takes less time than a hash.
struct NumberTable<Value> {
  private var entries: [(number: UInt16, value: Value)] = []

  init() {}

  var isEmpty: Bool { entries.isEmpty }
  var count: Int { entries.count }
  /// In ascending order.
  var numbers: [UInt16] { entries.map(\.number) }
  /// The values, in the order of their numbers.
  var values: [Value] { entries.map(\.value) }
  /// The value of the lowest number.
  var first: Value? { entries.first?.value }

  /// The value of a number, if there is one; nil removes it.
  subscript(number: UInt16) -> Value? {
    get { place(of: number).map { entries[$0].value } }
    set {
      let place = place(of: number)
      switch (place, newValue) {
      case (let place?, let value?): entries[place].value = value
      case (let place?, nil): entries.remove(at: place)
      case (nil, let value?):
        entries.insert((number, value), at: entries.firstIndex { $0.number > number } ?? entries.endIndex)
      case (nil, nil): break
      }
    }
  }

  /// - Returns: the removed value.
  mutating func remove(_ number: UInt16) -> Value? { place(of: number).map { entries.remove(at: $0).value } }

  private func place(of number: UInt16) -> Int? { entries.firstIndex { $0.number == number } }
}
