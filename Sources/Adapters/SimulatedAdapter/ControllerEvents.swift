import Adapter
import Bluetooth
import HCI

/// The simulated air as HCI events and data, like a controller's reports to its host.
enum ControllerEvents {
  /// A link: its establishment, and its encryption.
  static func connection(_ link: SimulatedLink, _ handle: UInt16) -> [MonitorPacket] {
    var present = PresentLink(handle, to: link.peer, isCentral: link.role == .central)
    if let parameters = link.parameters {
      present.interval = parameters.interval
      present.latency = parameters.latency
      present.supervisionTimeout = parameters.supervisionTimeout
    }
    present.isEncrypted = link.security.level > 1
    return present.packets
  }

  /// A link ended.
  static func end(_ reason: BluetoothError, _ handle: UInt16) -> MonitorPacket {
    MonitorPacket(
      DisconnectionComplete {
        $0.handle = handle
        $0.reason = HCIStatus(rawValue: UInt8(truncatingIfNeeded: reason.code))
      })
  }

  /// Its parameters, its subrating, its PHY or the lengths of its packets may have changed.
  static func parameters(_ link: SimulatedLink, _ handle: UInt16) -> [MonitorPacket] {
    guard let parameters = link.parameters else { return [] }
    let layer = link.layer
    let isShort = parameters.interval < ConnectionParameters.shortestOrdinaryInterval
    return (isShort ? [rate(parameters, handle)] : update(parameters, handle)) + [
      MonitorPacket(
        LEPHYUpdateComplete {
          $0.handle = handle
          $0.tx = layer.txPHY?.rawValue ?? 1
          $0.rx = layer.rxPHY?.rawValue ?? 1
        }),
      MonitorPacket(
        LEDataLengthChange {
          $0.handle = handle
          $0.maximumTxOctets = UInt16(clamping: layer.txOctets ?? 27)
          $0.maximumTxTime = time(of: $0.maximumTxOctets)
          $0.maximumRxOctets = UInt16(clamping: layer.rxOctets ?? 27)
          $0.maximumRxTime = time(of: $0.maximumRxOctets)
        }),
    ]
  }

  private static func update(_ parameters: LinkParameters, _ handle: UInt16) -> [MonitorPacket] {
    let update = MonitorPacket(
      LEConnectionUpdateComplete {
        $0.handle = handle
        $0.interval = TimeUnits.connection(parameters.interval)
        $0.latency = UInt16(clamping: parameters.latency)
        $0.supervisionTimeout = TimeUnits.supervision(parameters.supervisionTimeout)
      })
    guard parameters.subrate > 1 else { return [update] }
    // The update ends any earlier subrating.
    let subrating = MonitorPacket(
      LESubrateChange {
        $0.handle = handle
        $0.factor = UInt16(clamping: parameters.subrate)
        $0.latency = UInt16(clamping: parameters.latency)
        $0.continuationNumber = UInt16(clamping: parameters.continuation)
        $0.supervisionTimeout = TimeUnits.supervision(parameters.supervisionTimeout)
      })
    return [update, subrating]
  }

  private static func rate(_ parameters: LinkParameters, _ handle: UInt16) -> MonitorPacket {
    MonitorPacket(
      LEConnectionRateChange {
        $0.handle = handle
        $0.interval = TimeUnits.rate(parameters.interval)
        $0.factor = UInt16(clamping: parameters.subrate)
        $0.latency = UInt16(clamping: parameters.latency)
        $0.continuationNumber = UInt16(clamping: parameters.continuation)
        $0.supervisionTimeout = TimeUnits.supervision(parameters.supervisionTimeout)
      })
  }

  /// The time of this number of octets on LE 1M, in µs: with 14 octets of preamble, access address, header, MIC and CRC
  /// (Core 5.4, Vol 6, Part B, 4.5.10).
  private static func time(of octets: UInt16) -> UInt16 { (octets + 14) * 8 }

  /// A link was encrypted, or its encryption has ended.
  static func encryption(_ link: SimulatedLink, _ handle: UInt16) -> MonitorPacket {
    MonitorPacket(
      EncryptionChange {
        $0.handle = handle
        $0.mode = link.security.level > 1 ? 1 : 0
      })
  }

  /// An ATT packet: a frame of L2CAP on channel 4, in one piece (Core 5.4, Vol 3, Part A, 3.1).
  static func attribute(_ packet: [UInt8], _ handle: UInt16, isSent: Bool) -> MonitorPacket {
    let length = UInt16(clamping: packet.count)
    let data = ACLDataPacket {
      $0.handle = handle
      $0.boundary = isSent ? 0 : 2
      $0.data = ([UInt8(truncatingIfNeeded: length), UInt8(length >> 8), 0x04, 0x00] + packet)[...]
    }
    return MonitorPacket(isSent ? .sentACL : .receivedACL, data.octets)
  }

  // MARK: Advertising

  /// The longest data of one report (Core 5.4, Vol 4, Part E, 7.7.65.13).
  private static let longestPart = 229

  /// A device was received: in the form of Bluetooth 4 if that suffices, else in as many extended reports as the data
  /// needs.
  static func reports(_ report: AdvertisingReport) -> [MonitorPacket] {
    let isLegacy =
      report.secondaryPHY == nil && report.primaryPHY != .leCoded && report.sid == nil && report.data.count <= 31
    guard !isLegacy || report.address == nil else {
      return [MonitorPacket(LEAdvertisingReports { $0.reports = [legacy(report)] })]
    }
    var packets: [MonitorPacket] = []
    var rest = report.data[...]
    repeat {
      let part = rest.prefix(longestPart)
      rest = rest.dropFirst(longestPart)
      let isLast = rest.isEmpty
      packets.append(
        MonitorPacket(LEExtendedAdvertisingReports { $0.reports = [extended(report, part, isLast: isLast)] }))
    } while !rest.isEmpty
    return packets
  }

  private static func legacy(_ report: AdvertisingReport) -> LEAdvertisingReports.Report {
    .init {
      $0.eventType =
        report.isScanResponse ? 4 : report.isDirected ? 1 : report.isConnectable ? 0 : report.isScannable ? 2 : 3
      $0.address = report.address.map { HCIAddress($0) } ?? HCIAddress()
      $0.data = report.data
      $0.rssi = Int8(clamping: report.rssi ?? 127)
    }
  }

  private static func extended(
    _ report: AdvertisingReport, _ data: ArraySlice<UInt8>, isLast: Bool
  ) -> LEExtendedAdvertisingReports.Report {
    .init {
      if report.isConnectable { $0.eventType.insert(.connectable) }
      if report.isScannable { $0.eventType.insert(.scannable) }
      if report.isDirected { $0.eventType.insert(.directed) }
      if report.isScanResponse { $0.eventType.insert(.scanResponse) }
      if !isLast { $0.eventType.insert(.incomplete) }
      if let address = report.address { $0.address = HCIAddress(address) } else { $0.address.type = .anonymous }
      $0.primaryPHY = report.primaryPHY?.rawValue ?? 1
      $0.secondaryPHY = report.secondaryPHY?.rawValue ?? 0
      $0.sid = report.sid ?? 0xFF
      $0.txPower = Int8(clamping: report.txPower ?? 127)
      $0.rssi = Int8(clamping: report.rssi ?? 127)
      $0.data = Array(data)
    }
  }
}
