import FrameworkSupport

/// A property observer's options. Foundation on Linux has no key-value observing; this replaces it for the properties
/// of managers and peripherals.
public struct NSKeyValueObservingOptions: OptionSet, Sendable {
  /// The bits.
  public let rawValue: UInt

  /// Makes a set from its bits.
  public init(rawValue: UInt) { self.rawValue = rawValue }

  /// The new value.
  public static let new = NSKeyValueObservingOptions(rawValue: 1)
  /// The old value.
  public static let old = NSKeyValueObservingOptions(rawValue: 2)
  /// A first call at once.
  public static let initial = NSKeyValueObservingOptions(rawValue: 4)
}

/// A change to an observed property.
public struct NSKeyValueObservedChange<Value> {
  /// The value after it, if `.new` was requested.
  public let newValue: Value?
  /// The value before it, if `.old` was requested.
  public let oldValue: Value?
}

/// A registered observer; it ends with `invalidate` or with the last reference to this.
open class NSKeyValueObservation: NSObject {
  private let end: Guarded<(() -> Void)?>

  init(end: @escaping () -> Void) {
    self.end = Guarded(end)
  }

  deinit { invalidate() }

  /// Ends it.
  open func invalidate() {
    let end = end.with { end in
      defer { end = nil }
      return end
    }
    end?()
  }
}

/// Managers and peripherals: their properties can be observed.
public protocol CBKeyValueObservable: AnyObject {}

extension CBManager: CBKeyValueObservable {}
extension CBPeripheral: CBKeyValueObservable {}

extension CBKeyValueObservable {
  /// Calls a function when a property changes: `isScanning`, `state`.
  /// - Returns: The observation; retain it.
  public func observe<Value>(
    _ keyPath: KeyPath<Self, Value>, options: NSKeyValueObservingOptions = [],
    changeHandler: @escaping (Self, NSKeyValueObservedChange<Value>) -> Void
  ) -> NSKeyValueObservation {
    let observers = (self as? CBManager)?.observers ?? (self as? CBPeripheral)?.observers ?? KeyValueObservers()
    let last = Guarded(self[keyPath: keyPath])
    if options.contains(.initial) {
      let value = last[\.self]
      changeHandler(self, .init(newValue: options.contains(.new) ? value : nil, oldValue: nil))
    }
    let number = observers.add { [weak self] in
      guard let self else { return }
      let new = self[keyPath: keyPath]
      let old = last.with { last in
        defer { last = new }
        return last
      }
      guard (new as? AnyHashable) != (old as? AnyHashable) else { return }
      changeHandler(
        self, .init(newValue: options.contains(.new) ? new : nil, oldValue: options.contains(.old) ? old : nil))
    }
    return NSKeyValueObservation { [weak observers] in observers?.remove(number) }
  }
}

/// An object's observers.
final class KeyValueObservers: Sendable {
  private let list = Guarded<(last: Int, observers: [Int: () -> Void])>((0, [:]))

  func add(_ observer: @escaping () -> Void) -> Int {
    list.with {
      $0.last += 1
      $0.observers[$0.last] = observer
      return $0.last
    }
  }

  func remove(_ number: Int) { list.with { $0.observers[number] = nil } }

  /// A property may have changed.
  func changed() {
    for observer in list.with({ $0.observers.sorted { $0.key < $1.key } }) { observer.value() }
  }
}

// Foundation on Linux has no key-value coding; old programs read identifiers with it.

extension CBPeer {
  /// A property by name: `identifier` as `NSUUID`, and for a peripheral `name` as `String` and `state` as `NSNumber`.
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
