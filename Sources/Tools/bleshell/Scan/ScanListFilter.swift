import BledRPC
import Bluetooth

/// A typed filter for fewer devices: words that must all be in a device's name, address, services, company or data; a
/// number such as -70 is the minimum signal strength in dBm.
struct ScanListFilter: Equatable {
  let text: String
  private let words: [String]
  private let level: Double?

  init(_ text: String) {
    self.text = text
    let all = text.lowercased().split(separator: " ").map(String.init)
    let numbers = all.filter { $0.hasPrefix("-") }.compactMap { Double($0) }
    level = numbers.max()
    words = all.filter { !$0.hasPrefix("-") }
  }

  /// - Parameter level: The signal strength of the device in dBm.
  func passes(_ report: ScanReport.Params, level: Double?) -> Bool {
    if let least = self.level, level ?? -200 < least { return false }
    guard !words.isEmpty else { return true }
    var fields = [report.name ?? "", report.address]
    for service in report.services ?? [] { fields += ["\(service)", service.knownName ?? ""] }
    fields += ScanTable.contents(report)
    let lower = fields.map { $0.lowercased() }
    return words.allSatisfy { word in lower.contains { $0.contains(word) } }
  }
}
