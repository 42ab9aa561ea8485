import BledRPC
import Bluetooth

/// A device that a text of the user may denote.
struct DeviceCandidate {
  let identifier: String
  let name: String?
  let address: String
  /// True if its address changes, about every quarter of an hour: later it is another device for bled.
  var isPrivate = false
  var isConnected = false
  /// Seconds since it was received; nil if it was not.
  var sinceReport: Double?

  init(_ identifier: String, _ name: String?, _ address: String) {
    self.identifier = identifier
    self.name = name
    self.address = address
  }

  init(_ entry: PeripheralList.Entry) {
    self.init(entry.peripheral, entry.name, entry.address)
    let parsed = DeviceAddress(entry.address, kind: entry.addressType.known ?? .public)
    isPrivate = parsed.map { !$0.isIdentity } ?? false
    isConnected = entry.state == "connected"
    sinceReport = entry.sinceReport
  }

  init(_ report: ScanReport.Params) {
    self.init(report.peripheral, report.name, report.address)
    let parsed = DeviceAddress(report.address, kind: report.addressType.known ?? .public)
    (isPrivate, sinceReport) = (parsed.map { !$0.isIdentity } ?? false, 0)
  }

  /// The ways in which a text denotes a device; the first one that matches counts.
  enum Match: Int, CaseIterable {
    case whole
    case name
    case nameInAnyCase
    case beginningOfIdentifier
    case beginningOfName

    fileprivate func meets(_ text: String, _ address: String?, _ candidate: DeviceCandidate) -> Bool {
      let lower = text.lowercased()
      return switch self {
      case .whole: candidate.identifier.lowercased() == lower || candidate.address == address
      case .name: candidate.name == text
      case .nameInAnyCase: candidate.name?.lowercased() == lower
      case .beginningOfIdentifier: lower.count >= 4 && candidate.identifier.lowercased().hasPrefix(lower)
      case .beginningOfName: candidate.name?.lowercased().hasPrefix(lower) == true
      }
    }

    /// True if the text is of a name, which several devices may have, also one after the other.
    var isOfName: Bool { self == .name || self == .nameInAnyCase || self == .beginningOfName }
  }

  /// The devices that match in the first way in which any matches, and that way; nil for none.
  static func matches(
    _ text: String, among candidates: [DeviceCandidate]
  ) -> (way: Match, candidates: [DeviceCandidate])? {
    let address = address(text)
    for way in Match.allCases {
      let matches = candidates.filter { way.meets(text, address, $0) }
      if !matches.isEmpty { return (way, matches) }
    }
    return nil
  }

  /// The device that matches: by identifier or address, name, prefix of the identifier or prefix of the name, in this
  /// order.
  /// - Throws: `Failure` if several match in the same way.
  static func choose(_ text: String, among candidates: [DeviceCandidate]) throws -> DeviceCandidate? {
    guard let (_, found) = matches(text, among: candidates) else { return nil }
    guard found.count == 1 else { throw ambiguous(text, found) }
    return found.first
  }

  /// The time after a report, in seconds, in which a device counts as present.
  private static let recently = 10.0

  /// Otherwise as `choose`; of several devices with a name, the only one that is connected or was heard recently.
  static func choose(_ text: String, amongRecent candidates: [DeviceCandidate]) throws -> DeviceCandidate? {
    guard let (way, found) = matches(text, among: candidates), way.isOfName, found.count > 1 else {
      return try choose(text, among: candidates)
    }
    let recent = found.filter { $0.isConnected || $0.sinceReport ?? .infinity <= recently }
    guard recent.count == 1 else { throw ambiguous(text, found) }
    return recent.first
  }

  /// The failure of a text that looks like an address and is none; nil for any other text.
  static func mistypedAddress(_ text: String) -> Failure? {
    let first = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false).first ?? ""
    let parts = first.split(separator: ":", omittingEmptySubsequences: false)
    let looksLikeOne = parts.count >= 4 && parts.allSatisfy { $0.utf8.count <= 3 && !$0.contains(" ") }
    guard looksLikeOne, address(String(first)) == nil else { return nil }
    return Failure(
      "\(text) is not an address: give six pairs of hex digits, such as C0:DE:00:00:00:01", status: 64)
  }

  /// The failure of a text that denotes several devices, with a line for each, the last heard first.
  static func ambiguous(_ text: String, _ candidates: [DeviceCandidate]) -> Failure {
    let sorted = candidates.sorted {
      ($0.isConnected ? 0 : 1, $0.sinceReport ?? .infinity, $0.name ?? "", $0.address)
        < ($1.isConnected ? 0 : 1, $1.sinceReport ?? .infinity, $1.name ?? "", $1.address)
    }
    let lines = sorted.map {
      "\($0.name.map(Output.clean) ?? "?") \($0.address) \($0.identifier), \($0.lastSeen)"
    }
    return Failure(
      "\(text) is ambiguous; give the address or identifier of one of these:\n" + lines.joined(separator: "\n"))
  }

  private var lastSeen: String {
    if isConnected { return "connected" }
    return sinceReport.map { "heard \(ageText($0)) ago" } ?? "not heard since bled started"
  }

  /// Parses an address in any spelling: with colons, dashes or nothing between its six pairs of digits.
  /// - Returns: The address with colons, in upper case; nil for other text.
  static func address(_ text: String) -> String? {
    let digits = Array(text.filter { $0 != ":" && $0 != "-" })
    guard digits.count == 12, text.utf8.count == 12 || text.utf8.count == 17 else { return nil }
    let pairs = stride(from: 0, to: 12, by: 2).map { String(digits[$0...($0 + 1)]) }
    let separator = text.utf8.count == 17 && text.contains("-") ? "-" : ":"
    guard text.utf8.count == 12 || text == pairs.joined(separator: separator) else { return nil }
    return DeviceAddress(pairs.joined(separator: ":"), kind: .public).map { "\($0)" }
  }
}

/// A time in whole units: "3 s", "12 min", "5 h"
func ageText(_ seconds: Double) -> String {
  switch seconds {
  case ..<60: "\(Int(max(0, seconds))) s"
  case ..<3600: "\(Int(seconds / 60)) min"
  default: "\(Int(min(seconds, 1e9) / 3600)) h"
  }
}
