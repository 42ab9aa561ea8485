import Adapter
import Bluetooth

/// The devices of pending connections whose initiation was in vain, on a controller that cannot initiate beside a scan:
/// from then on the scan listens for them, at no cost.
///
/// | Device | Input                                                      | Then                             |
/// |--------|------------------------------------------------------------|----------------------------------|
/// | wanted | the initiator's turn is over, and it was among its devices | absent, if not received for 11 s |
/// | absent | a connectable advertisement of it was received             | wanted: the initiator has a turn |
/// | absent | no connection to it is wanted, or there is a link          | forgotten                        |
///
/// A device that advertises seldom need not do so in a turn that begins after its last advertisement: as long as it may
/// advertise again the initiator has ordinary turns.
///
/// A scan that pauses for other activities is not relied on: the initiator's turns are longer than its own.
///
/// A scan that receives nothing at all may be stuck, and says nothing about any device: after 10 s without a report the
/// initiator has its turns again.
struct AbsentDevices {
  private static let patience = Duration.seconds(10)
  /// The longest interval of legacy advertising is 10.24 s (Core 5.4, Vol 6, Part B, 4.4.2.2).
  private static let longestInterval = Duration.seconds(11)

  private var devices: Set<DeviceAddress> = []
  private var wanted: Set<DeviceAddress> = []
  /// The last advertisements of wanted devices.
  private var lastHeard: [DeviceAddress: Instant] = [:]
  private var lastReport: Instant?
  /// True if a device was discovered since `keep`.
  private(set) var hasHeard = false

  /// When the scan's silence has lasted for too long.
  var deadline: Instant? { lastReport?.advanced(by: Self.patience) }

  /// The initiator has searched for these devices during its whole turn.
  mutating func searched(_ tried: Set<DeviceAddress>, at now: Instant) {
    for device in tried {
      if let last = lastHeard[device], now < last.advanced(by: Self.longestInterval) { continue }
      devices.insert(device)
    }
  }

  /// Connections to these are wanted.
  mutating func keep(_ wanted: Set<DeviceAddress>) {
    hasHeard = false
    guard wanted != self.wanted else { return }
    self.wanted = wanted
    devices.formIntersection(wanted)
    lastHeard = lastHeard.filter { wanted.contains($0.key) }
  }

  /// True if all of these are absent, and a scan would discover any that is not.
  func include(_ wanted: Set<DeviceAddress>, at now: Instant) -> Bool {
    guard !devices.isEmpty, let deadline, now < deadline else { return false }
    return devices.isSuperset(of: wanted)
  }

  mutating func received(_ reports: [AdvertisingReport], at now: Instant) {
    lastReport = now
    guard !wanted.isEmpty else { return }
    for report in reports where report.isConnectable {
      guard let address = report.address, wanted.contains(address) else { continue }
      lastHeard[address] = now
      if devices.remove(address) != nil { hasHeard = true }
    }
  }
}
