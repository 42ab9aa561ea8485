import Adapter
import Bluetooth
import HCI
import Radio

/// A request to change a link: its command, and the meaning of a refusal.
struct LinkRequest {
  let kind: LinkRequests.Kind
  let packet: CommandPacket
  let refusal: (HCIStatus) -> BluetoothError

  /// One of the two controllers does not negotiate the parameters of a link on which we are peripheral.
  static let noNegotiation = GAPError.notSupported.error(
    "the two controllers cannot negotiate the connection's parameters: only the central can change them")

  /// Another interval, latency and timeout. On an incoming link the controllers negotiate it if both can (Core 5.4, Vol
  /// 6, Part B, 5.1.7). Otherwise only the kernel could ask the device's host (Vol 3, Part A, 4.20), and it has no call
  /// for that: data sent past it would disturb its count of packets in flight.
  static func update(of link: any ControllerLink, to parameters: ConnectionParameters) -> LinkRequest {
    let command = LEConnectionUpdate {
      $0.handle = link.handle
      $0.intervalMin = TimeUnits.connection(parameters.interval.lowerBound)
      $0.intervalMax = TimeUnits.connection(parameters.interval.upperBound)
      $0.latency = UInt16(clamping: parameters.latency)
      $0.supervisionTimeout = TimeUnits.supervision(parameters.supervisionTimeout)
    }
    let isCentral = link.role == .central
    return LinkRequest(kind: .parameters, packet: CommandPacket(command)) { status in
      switch status.code {
      case _ where isCentral: status.error("the connection's parameters stay as they are")
      case .unknownHCICommand, .commandDisallowed, .unsupportedFeatureOrParameterValue, .unsupportedRemoteFeature,
        .invalidLMPParameters, .unsupportedLMPParameterValue:
        noNegotiation
      default: status.error("the connection's parameters stay as they are")
      }
    }
  }

  /// Another subrate: as central the controller decides, as peripheral the device's does (Core 5.4, Vol 6, Part B,
  /// 5.1.19 and 5.1.20).
  static func subrate(of link: any ControllerLink, to wanted: ConnectionParameters) -> LinkRequest {
    let command = LESubrateRequest {
      $0.handle = link.handle
      $0.subrateMin = UInt16(clamping: wanted.subrate.lowerBound)
      $0.subrateMax = UInt16(clamping: wanted.subrate.upperBound)
      $0.maximumLatency = UInt16(clamping: wanted.latency)
      $0.continuationNumber = UInt16(clamping: wanted.continuation)
      $0.supervisionTimeout = TimeUnits.supervision(wanted.supervisionTimeout)
    }
    let peer = link.peer
    return LinkRequest(kind: .subrate, packet: CommandPacket(command)) { status in
      switch status.code {
      case .unknownHCICommand, .unsupportedRemoteFeature:
        GAPError.notSupported.error("\(peer) does not have connection subrating")
      default: status.error("the connection's subrating stays as it is")
      }
    }
  }

  /// Another interval, subrate, latency and timeout at once; roles as in `subrate` (Core 6.2, Vol 6, Part B, 5.1.32 and
  /// 5.1.33).
  /// - Parameter shortest: the shortest interval of our controller.
  static func rate(
    of link: any ControllerLink, to wanted: ConnectionParameters, shortest: Duration
  ) -> LinkRequest {
    let command = LEConnectionRateRequest {
      $0.handle = link.handle
      $0.rate.intervalMin = TimeUnits.rate(max(shortest, wanted.interval.lowerBound))
      $0.rate.intervalMax = TimeUnits.rate(max(shortest, wanted.interval.upperBound))
      $0.rate.subrateMin = UInt16(clamping: wanted.subrate.lowerBound)
      $0.rate.subrateMax = UInt16(clamping: wanted.subrate.upperBound)
      $0.rate.maximumLatency = UInt16(clamping: wanted.latency)
      $0.rate.continuationNumber = UInt16(clamping: wanted.continuation)
      $0.rate.supervisionTimeout = TimeUnits.supervision(wanted.supervisionTimeout)
    }
    let peer = link.peer
    return LinkRequest(kind: .parameters, packet: CommandPacket(command)) { status in
      status.code == .unsupportedRemoteFeature
        ? noShortIntervals(of: "\(peer)") : status.error("the connection's parameters stay as they are")
    }
  }

  /// One side lacks shorter connection intervals.
  static func noShortIntervals(of side: String) -> BluetoothError {
    GAPError.notSupported.error("\(side) does not have shorter connection intervals: 7.5 ms is the shortest")
  }

  /// The features of the other controller beyond the first 64.
  static func features(of link: any ControllerLink) -> LinkRequest {
    LinkRequest(kind: .features, packet: CommandPacket(LEReadAllRemoteFeatures { $0.handle = link.handle })) {
      $0.error("the features of the other controller could not be read")
    }
  }

  /// Another PHY in both directions.
  static func phy(of link: any ControllerLink, to wanted: LinkPHY) -> LinkRequest {
    phys(of: link, [wanted.phy], wanted.coding)
  }

  /// The PHYs that both sides may choose from, in both directions.
  static func phys(of link: any ControllerLink, _ phys: Set<PHY>, _ coding: LinkPHY.Coding? = nil) -> LinkRequest {
    let command = LESetPHY {
      $0.handle = link.handle
      $0.txPHYs = phys.mask
      $0.rxPHYs = phys.mask
      $0.options = UInt16(coding?.rawValue ?? 0)
    }
    return LinkRequest(kind: .phy, packet: CommandPacket(command)) {
      $0.error("the connection's PHY stays as it is")
    }
  }

  /// Our packets up to this number of octets.
  static func dataLength(of link: any ControllerLink, to octets: Int, hasCodedPHY: Bool) -> LinkRequest {
    let command = LESetDataLength {
      $0.handle = link.handle
      $0.txOctets = UInt16(min(max(27, octets), 251))
      $0.txTime = time(of: $0.txOctets, hasCodedPHY: hasCodedPHY)
    }
    return LinkRequest(kind: .dataLength, packet: CommandPacket(command)) {
      $0.error("the length of the connection's packets stays as it is")
    }
  }

  /// The longest time of a packet, in µs: with the 14 octets around an encrypted payload on LE 1M, and with coding S=8
  /// if the controller has it, so that no PHY limits the octets (Core 5.4, Vol 6, Part B, 2.1, 2.2 and 4.5.10).
  static func time(of octets: UInt16, hasCodedPHY: Bool) -> UInt16 {
    hasCodedPHY ? (octets + 9) * 64 + 400 : (octets + 14) * 8
  }
}

extension PHY {
  /// The controller feature for this PHY; all have LE 1M.
  var feature: LEFeatures {
    switch self {
    case .le1M: []
    case .le2M: .phy2M
    case .leCoded: .codedPHY
    }
  }
}

extension LinkLayer {
  /// True if both directions use this PHY.
  func has(_ phy: PHY) -> Bool { txPHY == phy && rxPHY == phy }
}
