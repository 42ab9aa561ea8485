/// A Report Map, or report descriptor (HID 1.11, 6.2.2), read as far as the gateway has to know it: the lengths of
/// reports, whether they have numbers, and the kinds of device that it describes. The kernel reads it in full.
package struct ReportMap: Hashable, Sendable {
  /// A map that cannot be used, or that the kernel refuses unless a driver mends it.
  package struct Fault: Error, Hashable, CustomStringConvertible {
    package let description: String
  }

  /// A usage page and a usage (HID Usage Tables).
  package struct Usage: Hashable, Sendable {
    let page: UInt16
    let number: UInt16
  }

  /// The longest map that the kernel accepts, in octets (HID_MAX_DESCRIPTOR_SIZE).
  package static let longest = 4096
  /// The longest report that the kernel has room for, in octets (HID_MAX_BUFFER_SIZE).
  private static let longestReport = 16384

  package let octets: [UInt8]
  /// Why it was not read to its end: the lengths and kinds of its reports are unknown then.
  package private(set) var fault: Fault?
  /// The usages of the top-level application collections.
  package private(set) var applications: Set<Usage> = []
  /// The lengths of reports in bits, without their numbers.
  private var bits: [ReportKey: Int] = [:]
  /// The usage pages of the fields of reports, without constants.
  private var pages: [ReportKey: Set<UInt16>] = [:]

  /// Reads a map.
  package init(_ octets: [UInt8]) throws(Fault) {
    self.octets = octets
    guard !octets.isEmpty else { throw Fault(description: "the report map is empty") }
    guard octets.count <= Self.longest else {
      throw Fault(description: "the report map has \(octets.count) octets, more than \(Self.longest)")
    }
    do throws(Fault) { try readItems() } catch { fault = error }
  }

  private mutating func readItems() throws(Fault) {
    var reader = ReportMapReader()
    var items = ReportMapItems(octets)
    while let item = try items.next() { try read(item, &reader) }
    guard reader.depth == 0 else { throw Fault(description: "the report map leaves a collection open") }
    guard !bits.isEmpty else { throw Fault(description: "the report map has no report") }
  }

  private mutating func read(_ item: ReportMapItem, _ reader: inout ReportMapReader) throws(Fault) {
    switch try reader.read(item) {
    case .application(let usage): applications.insert(usage)
    case .field(let key, let length, let page):
      if let page { pages[key, default: []].insert(page) }
      let sum = bits[key, default: 0] + length
      guard sum <= Self.longestReport * 8 else {
        throw Fault(description: "the report map has a report of more than \(Self.longestReport) octets")
      }
      bits[key] = sum
    case nil: break
    }
  }

  /// The length of a report in octets, without its number; nil if the map lacks it, or has a fault.
  package func length(of key: ReportKey) -> Int? { fault == nil ? bits[key].map { ($0 + 7) / 8 } : nil }

  /// Whether reports of a type have numbers.
  package func isNumbered(_ type: ReportType) -> Bool { bits.keys.contains { $0.type == type && $0.id != 0 } }

  /// Whether a report sets lights and nothing else.
  func isLights(_ key: ReportKey) -> Bool { fault == nil && key.type == .output && pages[key] == [Usage.lightsPage] }

  /// Whether an input report without values says that nothing is held down. Zeros of a battery or of the maker's own
  /// fields have another meaning.
  func restsAtZero(_ key: ReportKey) -> Bool {
    pages[key]?.allSatisfy { $0 < Usage.firstVendorPage && !Usage.pagesOfStates.contains($0) } == true
  }

  /// Whether it describes a keyboard or keypad.
  package var isKeyboard: Bool { !applications.isDisjoint(with: [.keyboard, .keypad]) }

  /// Whether all of it is a keyboard, a mouse or their further keys: without values, all of these are at rest.
  package var restsAtZero: Bool {
    fault == nil && !applications.isEmpty
      && applications.allSatisfy { Usage.restingAtZero.contains($0) || $0.page >= Usage.firstVendorPage }
  }
}

extension ReportMap.Usage {
  fileprivate static let keyboard = Self(page: 0x01, number: 0x06)
  fileprivate static let keypad = Self(page: 0x01, number: 0x07)
  /// Pointer, Mouse, Keyboard, Keypad, System Control and Consumer Control.
  fileprivate static let restingAtZero: Set<Self> = [
    Self(page: 0x01, number: 0x01), Self(page: 0x01, number: 0x02), keyboard, keypad, Self(page: 0x01, number: 0x80),
    Self(page: 0x0C, number: 0x01),
  ]
  fileprivate static let firstVendorPage: UInt16 = 0xFF00
  fileprivate static let lightsPage: UInt16 = 0x08
  /// Generic Device Controls, which has the strength of the battery, Power and Battery System.
  fileprivate static let pagesOfStates: Set<UInt16> = [0x06, 0x84, 0x85]
}
