import Adapter
import Bluetooth
import HCI

/// A train that a controller follows, or tries to (Core 5.4, Vol 6, Part B, 4.4.3.5).
///
/// | State       | Input                      | Then                                             |
/// |-------------|----------------------------|--------------------------------------------------|
/// | beginning   | an event that is received  | it is reported as established → established      |
/// | beginning   | six that are missed        | it is reported with 0x3E, and over               |
/// | established | an event that is received  | its data are reported, unless it has subevents   |
/// | established | none within the timeout    | it is reported as lost, and over                 |
/// | any         | the train leaves the air   | the same, by its own alarm                       |
final class TrainSync {
  /// The source of its announcement.
  enum Origin: Hashable {
    case search
    case transfer(ConnectionHandle, serviceData: UInt16)
  }

  let handle: UInt16
  let information: TrainInformation
  let origin: Origin
  unowned let controller: VirtualController
  /// The subevents that it receives.
  var chosen: Set<UInt8> = []
  private(set) var isEstablished = false

  private let timeout: Duration
  private let reports: Bool
  private weak var owner: TrainSyncs?
  private var misses = 0
  private var lastReception = Instant.zero
  private var alarm: (any ScheduledWork)?

  /// The events without reception that end the attempt.
  private static let attempts = 6
  /// The longest data of one report, in the older and the newer event (Vol 4, Part E, 7.7.65.15).
  private static let longest = (older: 247, newer: 244)

  /// - Parameter reports: false to receive without reports.
  init(
    _ handle: UInt16, _ information: TrainInformation, _ origin: Origin, timeout: Duration, reports: Bool,
    of owner: TrainSyncs, in controller: VirtualController
  ) {
    (self.handle, self.information, self.origin, self.timeout) = (handle, information, origin, timeout)
    (self.reports, self.owner, self.controller) = (reports, owner, controller)
  }

  private var interval: Duration { TimeUnits.connectionUnits(information.interval) }

  /// The train; nil if it is off the air.
  var train: Train? { controller.air.train(information) }

  func begin() {
    if let train { train.add(self) } else { trainEnded() }
  }

  /// Nothing of it is received any longer.
  func end() {
    alarm?.cancel()
    train?.remove(self)
  }

  // MARK: - Events

  /// An event of the train has begun.
  /// - Parameter rssi: its strength in dBm; nil if it was missed.
  func received(_ rssi: Int8?, at event: Int) {
    let now = controller.air.scheduler.now
    guard let rssi else {
      misses += 1
      if isEstablished ? lastReception.duration(to: now) >= timeout : misses >= Self.attempts { owner?.lose(self) }
      return
    }
    lastReception = now
    if !isEstablished {
      isEstablished = true
      owner?.established(self, .success)
    }
    if let train, !train.hasSubevents { report(train.data, rssi, event: event, subevent: 0) }
  }

  /// The train has left the air.
  func trainEnded() {
    let scheduler = controller.air.scheduler
    let time =
      isEstablished ? lastReception.advanced(by: timeout) : scheduler.now.advanced(by: interval * Self.attempts)
    alarm = scheduler.schedule(at: time) { [weak self] in
      guard let self else { return }
      owner?.lose(self)
    }
  }

  // MARK: - Reports

  /// Reports a packet, in pieces.
  func report(_ data: [UInt8], _ rssi: Int8, event: Int, subevent: UInt8) {
    guard reports, let train else { return }
    let longest = controller.reportsSubevents ? Self.longest.newer : Self.longest.older
    for start in stride(from: 0, to: max(data.count, 1), by: longest) {
      let end = min(start + longest, data.count)
      let status: UInt8 = end < data.count ? 1 : 0
      let piece = Array(data[start..<end])
      guard controller.reportsSubevents else {
        controller.tell(
          .lePeriodicAdvertisingReport(
            LEPeriodicAdvertisingReport {
              ($0.handle, $0.txPower, $0.rssi, $0.dataStatus, $0.data) = (handle, train.txPower, rssi, status, piece)
            }))
        continue
      }
      controller.tell(
        .lePeriodicAdvertisingReportV2(
          LEPeriodicAdvertisingReportV2 {
            ($0.handle, $0.txPower, $0.rssi, $0.dataStatus, $0.data) = (handle, train.txPower, rssi, status, piece)
            ($0.event, $0.number) = (UInt16(truncatingIfNeeded: event), subevent)
          }))
    }
  }

  /// The report that it is established, or not.
  func outcome(_ status: HCIErrorCode) -> HCIEvent {
    let isV2 = controller.reportsSubevents
    switch origin {
    case .search:
      let event = LEPeriodicAdvertisingSyncEstablished {
        ($0.status, $0.handle, $0.sid, $0.advertiser) = (
          HCIStatus(status), handle, information.sid, information.address
        )
        ($0.phy, $0.interval) = (information.phy.rawValue, information.interval)
      }
      guard isV2 else { return .lePeriodicAdvertisingSyncEstablished(event) }
      return .lePeriodicAdvertisingSyncEstablishedV2(
        LEPeriodicAdvertisingSyncEstablishedV2 { ($0.established, $0.subevents) = (event, information.subevents) })
    case .transfer(let link, let serviceData):
      let event = LEPeriodicAdvertisingSyncTransferReceived {
        ($0.status, $0.connectionHandle, $0.serviceData) = (HCIStatus(status), link, serviceData)
        ($0.handle, $0.sid, $0.advertiser) = (handle, information.sid, information.address)
        ($0.phy, $0.interval) = (information.phy.rawValue, information.interval)
      }
      guard isV2 else { return .lePeriodicAdvertisingSyncTransferReceived(event) }
      return .lePeriodicAdvertisingSyncTransferReceivedV2(
        LEPeriodicAdvertisingSyncTransferReceivedV2 { ($0.received, $0.subevents) = (event, information.subevents) })
    }
  }
}

extension VirtualController {
  /// True if the host wants the events of trains with subevents, in place of those without.
  var reportsSubevents: Bool { eventMask & 1 << 35 != 0 && model.features.contains(.periodicResponsesScanner) }
}
