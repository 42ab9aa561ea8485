import BledConnection
import BledRPC
import Bluetooth

/// The one scan for all clients: its state and mode, and the advertisements in batches.
///
/// | Wanted         | Daemon            | State                                  |
/// |----------------|-------------------|----------------------------------------|
/// | by no client   | any               | idle                                   |
/// | by clients     | lost              | stopped                                |
/// | by clients     | asked             | starting                               |
/// | by clients     | has agreed        | running; failed while the adapter is not on |
/// | by clients     | has refused       | failed                                 |
final class Scanner {
  /// Maximum advertisements of a message, and the time for which the first one waits.
  private static let batchSize = 16
  private static let batchTime = Duration.milliseconds(100)
  /// The signal strength if unknown: the weakest, so that a proxy that knows it is preferred.
  private static let unknownStrength: Int32 = -127

  /// The state or the mode has changed.
  var changed: () -> Void = {}
  /// A batch for all clients that read AD structures themselves.
  var heard: (APIFrame) -> Void = { _ in }
  /// An advertisement for all clients that do not.
  var heardByOldClients: (APIFrame) -> Void = { _ in }

  private let clock: any Scheduler
  private let configuredActive: Bool
  private(set) var isActive: Bool
  private(set) var state = ScannerState.idle
  /// The adapter to scan on; nil: all.
  private let adapter: String?
  private var session: DaemonSession?
  private var isWanted: Bool { isWantedRaw || isWantedParsed }
  private var isWantedRaw = false
  private var isWantedParsed = false
  private var adapterIsOn = true
  /// The daemon's last requested scan.
  private var attempt = 0
  private var accepted: Bool?
  private var batch: [UInt8] = []
  private var batchCount = 0
  private var alarm: (any ScheduledWork)?

  init(_ clock: any Scheduler, adapter: String?, isActive: Bool) {
    self.clock = clock
    self.adapter = adapter
    configuredActive = isActive
    self.isActive = isActive
  }

  /// The state for a client.
  var frame: APIFrame { .scannerState(state, isActive: isActive, configuredActive: configuredActive) }

  /// bled is available, or lost.
  func use(_ session: DaemonSession?) {
    self.session = session
    restart()
  }

  /// - Parameters:
  ///   - raw: true if there are clients that read AD structures themselves.
  ///   - parsed: true if there are other clients.
  func want(raw: Bool, parsed: Bool) {
    let wasWanted = isWanted
    (isWantedRaw, isWantedParsed) = (raw, parsed)
    guard isWanted != wasWanted else { return }
    if !isWanted { session?.callUnawaited(ScanStop.self, ScanStop.Params()) }
    restart()
  }

  func setMode(active: Bool) {
    guard active != isActive else { return changed() }
    isActive = active
    if isWanted { restart() } else { changed() }
  }

  func adapterChanged(isOn: Bool) {
    guard isOn != adapterIsOn else { return }
    adapterIsOn = isOn
    settle()
  }

  private func restart() {
    attempt += 1
    accepted = nil
    guard isWanted, let session else { return settle() }
    let number = attempt
    session.call(
      ScanStart.self, ScanStart.Params(adapter: adapter, duplicates: true, active: isActive)
    ) { [weak self] result in
      guard let self, number == attempt else { return }
      if case .success = result { accepted = true } else { accepted = false }
      settle()
    }
    settle()
  }

  private func settle() {
    state =
      switch (isWanted, session != nil, accepted) {
      case (false, _, _): .idle
      case (true, false, _): .stopped
      case (true, true, nil): .starting
      case (true, true, true?): adapterIsOn ? .running : .failed
      case (true, true, false?): .failed
      }
    changed()
  }

  // MARK: Advertisements

  func report(_ report: ScanReport.Outline) {
    let kind = report.addressType.known ?? .random
    guard isWanted, let address = DeviceAddress(report.address, kind: kind) else { return }
    let rssi = report.rssi.flatMap { Int32(exactly: $0) } ?? Self.unknownStrength
    let (data, scanResponse) = (report.data.octets, report.scanResponse?.octets ?? [])
    if isWantedParsed {
      let content = AdvertisingData(parsing: data).merged(with: AdvertisingData(parsing: scanResponse))
      heardByOldClients(
        .parsedAdvertisement(address: address.value, rssi: rssi, addressType: UInt32(kind.rawValue), content))
    }
    guard isWantedRaw else { return }
    batch += APIFrame.advertisement(
      address: address.value, rssi: rssi, addressType: UInt32(kind.rawValue), data: data + scanResponse)
    batchCount += 1
    if batchCount >= Self.batchSize {
      flush()
    } else if batchCount == 1 {
      alarm = clock.schedule(after: Self.batchTime) { [weak self] in self?.flush() }
    }
  }

  private func flush() {
    alarm?.cancel()
    alarm = nil
    guard batchCount > 0 else { return }
    let frame = APIFrame.advertisements(batch)
    batch.removeAll(keepingCapacity: true)
    batchCount = 0
    heard(frame)
  }
}
