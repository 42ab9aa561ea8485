import Adapter
import HCI

extension TrainSubevents {
  /// The subevents in a controller's event; nil for a train without.
  init?(_ subevents: PeriodicSubevents) {
    guard subevents.count > 0 else { return nil }
    self.init(
      count: Int(subevents.count), interval: TimeUnits.connectionUnits(UInt16(subevents.interval)),
      slotDelay: TimeUnits.connectionUnits(UInt16(subevents.slotDelay)),
      slotSpacing: TimeUnits.rateUnits(UInt16(subevents.slotSpacing)))
  }
}

extension LEPeriodicAdvertisingReportV2 {
  /// The report on a train without subevents.
  init(_ report: LEPeriodicAdvertisingReport) {
    self.init()
    (handle, txPower, rssi) = (report.handle, report.txPower, report.rssi)
    (dataStatus, data) = (report.dataStatus, report.data)
  }
}
