import HCI

extension LEStates {
  /// All states except those of these bits (Core 5.4, Vol 4, Part E, 7.8.27).
  static func all(without bits: Int...) -> LEStates {
    .all.subtracting(LEStates(rawValue: bits.reduce(0) { $0 | 1 << UInt64($1) }))
  }
}
