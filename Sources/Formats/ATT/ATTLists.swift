/// A sequence of elements of one size, as in the responses to Read By Type, Read By Group Type, Find Information and
/// Find By Type Value (Core 5.4, Vol 3, Part F, 3.4.3.2, 3.4.3.4, 3.4.4.2 and 3.4.4.10). Octets behind the last whole
/// element are ignored.
public struct ElementList: Sequence, IteratorProtocol {
  private var rest: ArraySlice<UInt8>
  private let size: Int

  /// Walks through `list` in steps of `size` octets; a size below 1 counts as 1.
  public init(_ list: ArraySlice<UInt8>, size: Int) {
    rest = list
    self.size = Swift.max(size, 1)
  }

  /// The next element's octets.
  public mutating func next() -> ArraySlice<UInt8>? {
    guard rest.count >= size else { return nil }
    defer { rest = rest.dropFirst(size) }
    return rest.prefix(size)
  }
}

/// Values, each preceded by its handle and its length: Multiple Handle Value Notification (3.4.7.4).
public struct HandleLengthValueList: Sequence, IteratorProtocol {
  private var rest: ArraySlice<UInt8>

  /// Walks through the tuples in wire form. It ends before an incomplete one.
  public init(_ list: ArraySlice<UInt8>) { rest = list }

  /// The next handle and its value.
  public mutating func next() -> (handle: UInt16, value: ArraySlice<UInt8>)? {
    guard rest.count >= 4 else { return nil }
    let length = Int(rest.word(at: 2))
    guard rest.count - 4 >= length else { return nil }
    defer { rest = rest.dropFirst(4 + length) }
    return (rest.word(at: 0), rest.dropFirst(4).prefix(length))
  }

  /// True if there is at least one tuple and no octet after the last whole one.
  var isWhole: Bool {
    guard !rest.isEmpty else { return false }
    var walker = self
    while walker.next() != nil {}
    return walker.rest.isEmpty
  }
}

/// Values, each preceded by its length; the last may be cut short by the MTU: Read Multiple Variable (3.4.4.12).
public struct LengthValueList: Sequence, IteratorProtocol {
  private var rest: ArraySlice<UInt8>

  /// Walks through the tuples in wire form.
  public init(_ list: ArraySlice<UInt8>) { rest = list }

  /// The next value, and true if it is complete.
  public mutating func next() -> (value: ArraySlice<UInt8>, isWhole: Bool)? {
    guard rest.count >= 2 else { return nil }
    let length = Int(rest.word(at: 0))
    let value = rest.dropFirst(2).prefix(length)
    rest = rest.dropFirst(2 + length)
    return (value, value.count == length)
  }
}
