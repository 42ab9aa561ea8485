/// An item of a report map (HID 1.11, 6.2.2.2).
struct ReportMapItem: Hashable {
  /// The prefix without the size: the tag and the type.
  let tag: UInt8
  /// Up to four octets as a number without a sign.
  let value: UInt32
  /// The number of octets of the value.
  let size: Int
}

/// The items of a report map in their order.
struct ReportMapItems {
  /// The prefix of a long item (6.2.2.3).
  private static let long: UInt8 = 0xFE

  private var rest: ArraySlice<UInt8>

  init(_ octets: [UInt8]) { rest = octets[...] }

  /// The next short item; nil at the end. No long item is defined, so they are passed over.
  mutating func next() throws(ReportMap.Fault) -> ReportMapItem? {
    while let prefix = rest.popFirst() {
      guard prefix == Self.long else {
        let size = [0, 1, 2, 4][Int(prefix & 3)]
        let octets = try take(size)
        return ReportMapItem(tag: prefix & ~3, value: octets.reversed().reduce(0) { $0 << 8 | UInt32($1) }, size: size)
      }
      let head = try take(2)
      _ = try take(Int(head.first ?? 0))
    }
    return nil
  }

  private mutating func take(_ count: Int) throws(ReportMap.Fault) -> ArraySlice<UInt8> {
    guard rest.count >= count else { throw ReportMap.Fault(description: "the report map ends inside an item") }
    defer { rest = rest.dropFirst(count) }
    return rest.prefix(count)
  }
}

/// The state that items change and main items use (HID 1.11, 6.2.2.7 and 6.2.2.8), with the limits of the kernel.
struct ReportMapReader {
  /// The contribution of an item.
  enum Finding: Hashable {
    case application(ReportMap.Usage)
    /// A field of so many bits, and the page of its usages; nil for a constant.
    case field(ReportKey, Int, page: UInt16?)
  }

  private struct Globals: Hashable {
    var page: UInt16 = 0
    var size = 0
    var count = 0
    var id: UInt8 = 0
  }

  private static let deepestStack = 4
  private static let longestField = 256
  private static let mostFields = 12288
  private static let application: UInt32 = 1

  private var globals = Globals()
  private var stack: [Globals] = []
  private var usage: ReportMap.Usage?
  /// How many collections are open.
  private(set) var depth = 0

  mutating func read(_ item: ReportMapItem) throws(ReportMap.Fault) -> Finding? {
    switch item.tag {
    case 0x80: return field(.input, item)
    case 0x90: return field(.output, item)
    case 0xB0: return field(.feature, item)
    case 0xA0:
      defer {
        depth += 1
        usage = nil
      }
      guard depth == 0, item.value == Self.application else { return nil }
      return usage.map { .application($0) }
    case 0xC0:
      guard depth > 0 else { throw ReportMap.Fault(description: "the report map closes a collection that is not open") }
      depth -= 1
      usage = nil
    case 0x08:
      let page = item.size == 4 ? UInt16(truncatingIfNeeded: item.value >> 16) : globals.page
      usage = usage ?? ReportMap.Usage(page: page, number: UInt16(truncatingIfNeeded: item.value))
    default: try readGlobal(item)
    }
    return nil
  }

  private mutating func field(_ type: ReportType, _ item: ReportMapItem) -> Finding {
    defer { usage = nil }
    let isConstant = item.value & 1 == 1
    return .field(
      ReportKey(type, globals.id), globals.size * globals.count,
      page: isConstant ? nil : usage?.page ?? globals.page)
  }

  private mutating func readGlobal(_ item: ReportMapItem) throws(ReportMap.Fault) {
    switch item.tag {
    case 0x04: globals.page = UInt16(truncatingIfNeeded: item.value)
    case 0x74:
      globals.size = try bounded(item.value, Self.longestField, "a field of more bits than \(Self.longestField)")
    case 0x94:
      globals.count = try bounded(item.value, Self.mostFields, "more fields in an item than \(Self.mostFields)")
    case 0x84:
      guard let id = UInt8(exactly: item.value), id != 0 else {
        throw ReportMap.Fault(description: "the report map has the report ID \(item.value)")
      }
      globals.id = id
    case 0xA4:
      guard stack.count < Self.deepestStack else { throw ReportMap.Fault(description: "the report map nests too deep") }
      stack.append(globals)
    case 0xB4:
      guard let saved = stack.popLast() else {
        throw ReportMap.Fault(description: "the report map restores a state that was not saved")
      }
      globals = saved
    default: break
    }
  }

  private func bounded(_ value: UInt32, _ limit: Int, _ excess: String) throws(ReportMap.Fault) -> Int {
    guard value <= limit else { throw ReportMap.Fault(description: "the report map has \(excess)") }
    return Int(value)
  }
}
