import Adapter
import Bluetooth

/// The devices of pending connections that the initiator has looked for in vain, on a controller that cannot do that
/// beside a scan: from then on the scan listens for them, which takes no time from it.
///
/// | Device   | Input                                                        | Then                                |
/// |----------|--------------------------------------------------------------|-------------------------------------|
/// | wanted   | the initiator's turn is over, and it was among its devices   | absent                              |
/// | absent   | a connectable advertisement of it was received               | wanted: the initiator has a turn    |
/// | absent   | no connection to it is wanted, or there is a link            | forgotten                           |
///
/// A scan that receives nothing at all may have got stuck, and tells nothing of any device: after 10 s without a report
/// the initiator has its turns again.
struct AbsentDevices {
  private static let patience = Duration.seconds(10)

  private var devices: Set<DeviceAddress> = []
  private var lastReport: Instant?
  /// Whether a device was heard since `keep`.
  private(set) var hasHeard = false

  /// When the silence of the scan has lasted for too long.
  var deadline: Instant? { lastReport?.advanced(by: Self.patience) }

  /// The initiator has looked for these, as long as its turn was.
  mutating func searched(_ tried: Set<DeviceAddress>) { devices.formUnion(tried) }

  /// Connections to these are wanted.
  mutating func keep(_ wanted: Set<DeviceAddress>) {
    hasHeard = false
    if !devices.isEmpty { devices.formIntersection(wanted) }
  }

  /// Whether all of these are absent, and a scan would tell if one was not.
  func include(_ wanted: Set<DeviceAddress>, at now: Instant) -> Bool {
    guard !devices.isEmpty, let deadline, now < deadline else { return false }
    return devices.isSuperset(of: wanted)
  }

  mutating func heard(_ reports: [AdvertisingReport], at now: Instant) {
    lastReport = now
    guard !devices.isEmpty else { return }
    for report in reports where report.isConnectable {
      if let address = report.address, devices.remove(address) != nil { hasHeard = true }
    }
  }
}
