import BledRPC
import Bluetooth

/// The advertisements that a program monitors (BlueZ, org.bluez.AdvertisementMonitor).
struct Monitor {
  struct Pattern: Equatable {
    /// The octet of the data at which it begins.
    let start: Int
    /// The type of the data.
    let type: UInt8
    let content: [UInt8]
  }

  /// Maximum patterns of one monitor.
  private static let maximum = 32
  /// Means a threshold that is not set.
  private static let noThreshold = 127

  let patterns: [Pattern]
  /// In dBm; a device is found when it is at least as strong for `highTimeout`. Nil: at any strength.
  let high: Int?
  let highTimeout: Duration
  /// In dBm; a device is lost when it was weaker, or not received, for `lowTimeout`.
  let low: Int?
  let lowTimeout: Duration

  /// - Throws: `BusError` if a property has another type, or is not valid.
  init(_ properties: [String: BusValue]) throws(BusError) {
    guard properties["Type"]?.string == "or_patterns" else { throw .invalidArguments }
    patterns = try Self.patterns(properties["Patterns"])
    high = try Self.threshold(properties["RSSIHighThreshold"])
    low = try Self.threshold(properties["RSSILowThreshold"])
    highTimeout = .seconds(min(300, max(0, properties["RSSIHighTimeout"]?.integer ?? 0)))
    let seconds = properties["RSSILowTimeout"]?.integer ?? 0
    lowTimeout = .seconds(min(300, max(1, seconds == 0 ? 30 : seconds)))
  }

  /// `a(yyay)`
  private static func patterns(_ value: BusValue?) throws(BusError) -> [Pattern] {
    guard case .array("(yyay)", let values)? = value?.unwrapped, (1...maximum).contains(values.count) else {
      throw .invalidArguments
    }
    return try values.map { (value) throws(BusError) in
      guard case .structure(let parts) = value, parts.count == 3, case .byte(let start) = parts[0],
        case .byte(let type) = parts[1], let content = parts[2].bytes, (1...31).contains(content.count), start < 31
      else { throw .invalidArguments }
      return Pattern(start: Int(start), type: type, content: content)
    }
  }

  private static func threshold(_ value: BusValue?) throws(BusError) -> Int? {
    guard let value else { return nil }
    guard let number = value.integer, (-127...127).contains(number) else { throw .invalidArguments }
    return number == noThreshold ? nil : number
  }

  /// The filters of bled that let its advertisements through.
  var filters: [ScanStart.Filter] {
    patterns.map {
      ScanStart.Filter(pattern: .init(type: Int($0.type), offset: $0.start, data: HexBytes($0.content)))
    }
  }

  func matches(_ data: AdvertisingData) -> Bool {
    patterns.contains { pattern in
      data.structures.contains {
        $0.type.rawValue == pattern.type && $0.data.dropFirst(pattern.start).starts(with: pattern.content)
      }
    }
  }
}
