// Foundation on Linux has no key-value coding; old programs read identifiers with it.

extension CBPeer {
  /// A property by its name: `identifier` as `NSUUID`, and of a peripheral `name` as `String` and `state` as `NSNumber`.
  /// Any other name ends the program.
  public func value(forKey key: String) -> Any? {
    switch (key, self as? CBPeripheral) {
    case ("identifier", _): return NSUUID(uuidString: identifier.uuidString)
    case ("name", let peripheral?): return peripheral.name
    case ("state", let peripheral?): return NSNumber(value: peripheral.state.rawValue)
    default: Misuse.raise("\(self) is not key value coding-compliant for the key \(key)")
    }
  }
}
