import Bluetooth
import HCI

/// The PHYs on which a controller listens, each for a part of the time.
struct Listening {
  /// The part of the time, by primary PHY.
  var parts: [PHY: Double] = [:]

  /// - Parameter windows: the window and the interval, by the bit of the PHY.
  init(_ mask: UInt8, _ windows: [(window: UInt16, interval: UInt16)]) {
    var windows = windows[...]
    for phy in PHY.allCases where mask & 1 << (phy.rawValue - 1) != 0 {
      guard let next = windows.popFirst() else { return }
      // An advertisement never begins on 2M.
      if phy != .le2M { parts[phy] = next.interval > 0 ? Double(next.window) / Double(next.interval) : 1 }
    }
  }

  /// True if an advertisement is in the part of the time, by chance.
  func hears(_ advertisement: Advertisement, on air: Air) -> Bool {
    guard let part = parts[advertisement.primaryPHY] else { return false }
    return part >= 1 || air.chance(part)
  }
}

/// A controller's scan.
struct Scanner {
  let isExtended: Bool
  let isActive: Bool
  let listening: Listening
  /// True if only devices of the filter accept list are reported.
  let usesList: Bool

  /// The reports of an advertisement.
  func reports(of advertisement: Advertisement, rssi: Int8) -> [HCIEvent] {
    isExtended
      ? advertisement.extendedReports(rssi: rssi, isActive: isActive)
      : advertisement.legacyReports(rssi: rssi, isActive: isActive)
  }
}

/// A controller's attempt to connect.
struct Initiator {
  let isExtended: Bool
  let listening: Listening
  let request: ConnectionRequest
  /// Nil for the devices of the filter accept list.
  let peer: HCIAddress?

  func wants(_ advertisement: Advertisement, _ list: Set<HCIAddress>) -> Bool {
    guard advertisement.isConnectable, isExtended || advertisement.isLegacy else { return false }
    return peer.map { $0 == advertisement.address } ?? list.contains(advertisement.address)
  }
}

/// A request for a link, as an initiator sends it.
struct ConnectionRequest: Hashable {
  /// The initiator's address.
  var own: HCIAddress
  var times: LinkTimes
}

/// The times of a link, in the units of HCI.
struct LinkTimes: Hashable {
  /// In 0.125 ms.
  var interval: UInt16
  /// The connection events that a peripheral may skip.
  var latency: UInt16
  /// In 10 ms.
  var timeout: UInt16

  /// - Parameter interval: in 1.25 ms.
  init(interval: UInt16, latency: UInt16, timeout: UInt16) {
    self.init(units: UInt16(clamping: Int(interval) * 10), latency: latency, timeout: timeout)
  }

  /// - Parameter units: the interval in 0.125 ms.
  init(units: UInt16, latency: UInt16, timeout: UInt16) {
    (interval, self.latency, self.timeout) = (units, latency, timeout)
  }

  /// The interval in 1.25 ms.
  var wholeInterval: UInt16 { interval / 10 }
  var duration: Duration { TimeUnits.rateUnits(interval) }
  var supervision: Duration { TimeUnits.supervisionUnits(timeout) }

  /// True for times that HCI permits (Core 5.4, Vol 4, Part E, 7.8.18).
  var isValid: Bool {
    (60...0x7D00).contains(interval) && latency <= 499 && (10...0x0C80).contains(timeout)
      && Int(timeout) * 80 > (1 + Int(latency)) * Int(interval) * 2
  }
}
