import Adapter
import BledRPC

/// What one session scans for, and what was reported to it.
final class ScanSubscription {
  /// How many devices the rule on duplicates remembers; beyond that it begins anew, and repeats itself.
  private static let maximumReported = 8192
  /// The same for anonymous advertisements.
  private static let maximumReportedAnonymous = 256

  /// Where; nil: on all, also on those that are added later.
  let adapter: AdapterSlot?
  let filter: ScanFilter
  let params: ScanStart.Params
  /// The revision of each device's data that was reported last, by number of the device.
  private var reported: [Int: Int] = [:]
  /// The anonymous advertisements that were reported: set identifier and data.
  private var reportedAnonymous: Set<[UInt8]> = []

  init(adapter: AdapterSlot?, filter: ScanFilter, params: ScanStart.Params) {
    self.adapter = adapter
    self.filter = filter
    self.params = params
  }

  func includes(_ slot: AdapterSlot) -> Bool { adapter == nil || adapter == slot }

  /// Whether it gets reports: not in the background, unless it names services.
  func isRunning(inBackground: Bool) -> Bool { !inBackground || filter.namesServices }

  /// Whether it gets a report for every advertising event.
  func wantsAll(inBackground: Bool) -> Bool { !inBackground && params.duplicates ?? false }

  /// How to scan for it; nil: suspended.
  func parameters(inBackground: Bool) -> ScanParameters? {
    guard isRunning(inBackground: inBackground) else { return nil }
    let isActive = params.active ?? true
    guard inBackground else { return ScanParameters(isActive: isActive) }
    var parameters = ScanParameters.background
    parameters.isActive = isActive
    return parameters
  }

  // MARK: Duplicates

  /// Whether a device was not reported yet, or with other data.
  func isNews(_ peripheral: Peripheral) -> Bool { reported[peripheral.number] != peripheral.revision }

  /// Notes that a device is reported.
  func note(_ peripheral: Peripheral) {
    if reported.count >= Self.maximumReported { reported = [:] }
    reported[peripheral.number] = peripheral.revision
  }

  /// Notes that an anonymous advertisement is reported.
  /// - Returns: false if it was before.
  func note(_ report: AdvertisingReport) -> Bool {
    if reportedAnonymous.count >= Self.maximumReportedAnonymous { reportedAnonymous = [] }
    return reportedAnonymous.insert([report.sid ?? 0xFF] + report.data).inserted
  }

  func forgetReported() {
    reported = [:]
    reportedAnonymous = []
  }
}
