/// The parameters of an event kind.
package protocol HCIEventParameters: PacketParameters {
  /// The event code.
  static var code: UInt8 { get }
  /// The subevent code, for LE Meta events.
  static var subevent: UInt8? { get }
}

extension HCIEventParameters {
  package static var subevent: UInt8? { nil }

  /// The event as a packet.
  package var packet: EventPacket {
    var coder = OctetCoder()
    if let subevent = Self.subevent { coder.write(subevent) }
    coder.write(self)
    return EventPacket(code: Self.code, parameters: coder.octets)
  }
}

/// The parameters of an LE Meta event kind (Core 5.4, Vol 4, Part E, 7.7.65).
package protocol LEMetaEventParameters: HCIEventParameters {}

extension LEMetaEventParameters {
  package static var code: UInt8 { HCIEvent.leMeta }
}

/// A controller's event with its meaning (Core 5.4, Vol 4, Part E, 7.7).
package enum HCIEvent: Hashable, Sendable {
  /// A link ended.
  case disconnectionComplete(DisconnectionComplete)
  /// A link's encryption was switched.
  case encryptionChange(EncryptionChange)
  /// An encrypted link's key was renewed.
  case encryptionKeyRefreshComplete(EncryptionKeyRefreshComplete)
  /// The other controller reported its version.
  case readRemoteVersionInformationComplete(ReadRemoteVersionInformationComplete)
  /// A command was carried out.
  case commandComplete(CommandComplete)
  /// A command was begun or refused.
  case commandStatus(CommandStatus)
  /// Data left the controller.
  case numberOfCompletedPackets(NumberOfCompletedPackets)
  /// A link was established, or failed.
  case leConnectionComplete(LEConnectionComplete)
  /// A link was established, or failed, with private addresses.
  case leEnhancedConnectionComplete(LEEnhancedConnectionComplete)
  /// Legacy advertising was received.
  case leAdvertisingReport(LEAdvertisingReports)
  /// Advertising was received, in the extended form.
  case leExtendedAdvertisingReport(LEExtendedAdvertisingReports)
  /// A link's parameters changed.
  case leConnectionUpdateComplete(LEConnectionUpdateComplete)
  /// The other controller reported its features.
  case leReadRemoteFeaturesComplete(LEReadRemoteFeaturesComplete)
  /// The other device requests encryption.
  case leLongTermKeyRequest(LELongTermKeyRequest)
  /// The other device requests other link parameters.
  case leRemoteConnectionParameterRequest(LERemoteConnectionParameterRequest)
  /// The lengths of link layer packets changed.
  case leDataLengthChange(LEDataLengthChange)
  /// A link's PHYs changed.
  case lePHYUpdateComplete(LEPHYUpdateComplete)
  /// A link's subrating changed.
  case leSubrateChange(LESubrateChange)
  /// The other controller reported its features on further pages.
  case leReadAllRemoteFeaturesComplete(LEReadAllRemoteFeaturesComplete)
  /// A link's interval and subrating changed.
  case leConnectionRateChange(LEConnectionRateChange)
  /// An extended set ceased.
  case leAdvertisingSetTerminated(LEAdvertisingSetTerminated)
  /// The controller is synchronised with a periodic train, or could not be.
  case lePeriodicAdvertisingSyncEstablished(LEPeriodicAdvertisingSyncEstablished)
  /// A train's packet was received, or a part of it.
  case lePeriodicAdvertisingReport(LEPeriodicAdvertisingReport)
  /// A train was lost.
  case lePeriodicAdvertisingSyncLost(LEPeriodicAdvertisingSyncLost)
  /// A link's device transferred a train.
  case lePeriodicAdvertisingSyncTransferReceived(LEPeriodicAdvertisingSyncTransferReceived)
  /// The controller is synchronised with a periodic train, or could not be, with the train's subevents.
  case lePeriodicAdvertisingSyncEstablishedV2(LEPeriodicAdvertisingSyncEstablishedV2)
  /// A train's packet, or a part of it, was received in a subevent.
  case lePeriodicAdvertisingReportV2(LEPeriodicAdvertisingReportV2)
  /// A link's device transferred a train, with its subevents.
  case lePeriodicAdvertisingSyncTransferReceivedV2(LEPeriodicAdvertisingSyncTransferReceivedV2)
  /// A train's subevents need their data.
  case lePeriodicAdvertisingSubeventDataRequest(LEPeriodicAdvertisingSubeventDataRequest)
  /// Devices responded to a train's subevent.
  case lePeriodicAdvertisingResponseReport(LEPeriodicAdvertisingResponseReport)
  /// A monitored device was found or lost.
  case leMonitoredAdvertisersReport(LEMonitoredAdvertisersReport)
  /// Any other event.
  case other(EventPacket)

  /// The code for LE Meta events; their parameters begin with a subevent code.
  package static let leMeta: UInt8 = 0x3E

  /// Finds an event's meaning. Octets after the parameters are ignored, as later controllers append fields.
  /// - Throws: `.truncated` if the parameters end too early, `.invalidValue` for an undefined value.
  package init(decoding packet: EventPacket) throws(HCICodingError) {
    var coder = OctetCoder(reading: packet.parameters)
    switch packet.code {
    case DisconnectionComplete.code: self = .disconnectionComplete(try coder.read())
    case EncryptionChange.code: self = .encryptionChange(try coder.read())
    case ReadRemoteVersionInformationComplete.code: self = .readRemoteVersionInformationComplete(try coder.read())
    case CommandComplete.code: self = .commandComplete(try coder.read())
    case CommandStatus.code: self = .commandStatus(try coder.read())
    case NumberOfCompletedPackets.code: self = .numberOfCompletedPackets(try coder.read())
    case EncryptionKeyRefreshComplete.code: self = .encryptionKeyRefreshComplete(try coder.read())
    case Self.leMeta:
      switch try coder.read() as UInt8 {
      case LEConnectionComplete.subevent: self = .leConnectionComplete(try coder.read())
      case LEAdvertisingReports.subevent: self = .leAdvertisingReport(try coder.read())
      case LEConnectionUpdateComplete.subevent: self = .leConnectionUpdateComplete(try coder.read())
      case LEReadRemoteFeaturesComplete.subevent: self = .leReadRemoteFeaturesComplete(try coder.read())
      case LELongTermKeyRequest.subevent: self = .leLongTermKeyRequest(try coder.read())
      case LERemoteConnectionParameterRequest.subevent: self = .leRemoteConnectionParameterRequest(try coder.read())
      case LEDataLengthChange.subevent: self = .leDataLengthChange(try coder.read())
      case LEEnhancedConnectionComplete.subevent: self = .leEnhancedConnectionComplete(try coder.read())
      case LEPHYUpdateComplete.subevent: self = .lePHYUpdateComplete(try coder.read())
      case LESubrateChange.subevent: self = .leSubrateChange(try coder.read())
      case LEReadAllRemoteFeaturesComplete.subevent: self = .leReadAllRemoteFeaturesComplete(try coder.read())
      case LEConnectionRateChange.subevent: self = .leConnectionRateChange(try coder.read())
      case LEExtendedAdvertisingReports.subevent: self = .leExtendedAdvertisingReport(try coder.read())
      case LEAdvertisingSetTerminated.subevent: self = .leAdvertisingSetTerminated(try coder.read())
      case LEPeriodicAdvertisingSyncEstablished.subevent:
        self = .lePeriodicAdvertisingSyncEstablished(try coder.read())
      case LEPeriodicAdvertisingReport.subevent: self = .lePeriodicAdvertisingReport(try coder.read())
      case LEPeriodicAdvertisingSyncLost.subevent: self = .lePeriodicAdvertisingSyncLost(try coder.read())
      case LEPeriodicAdvertisingSyncTransferReceived.subevent:
        self = .lePeriodicAdvertisingSyncTransferReceived(try coder.read())
      case LEPeriodicAdvertisingSyncEstablishedV2.subevent:
        self = .lePeriodicAdvertisingSyncEstablishedV2(try coder.read())
      case LEPeriodicAdvertisingReportV2.subevent: self = .lePeriodicAdvertisingReportV2(try coder.read())
      case LEPeriodicAdvertisingSyncTransferReceivedV2.subevent:
        self = .lePeriodicAdvertisingSyncTransferReceivedV2(try coder.read())
      case LEPeriodicAdvertisingSubeventDataRequest.subevent:
        self = .lePeriodicAdvertisingSubeventDataRequest(try coder.read())
      case LEPeriodicAdvertisingResponseReport.subevent:
        self = .lePeriodicAdvertisingResponseReport(try coder.read())
      case LEMonitoredAdvertisersReport.subevent: self = .leMonitoredAdvertisersReport(try coder.read())
      default: self = .other(packet)
      }
    default: self = .other(packet)
    }
  }

  /// The event as a packet.
  package var packet: EventPacket {
    switch self {
    case .disconnectionComplete(let event): event.packet
    case .encryptionChange(let event): event.packet
    case .encryptionKeyRefreshComplete(let event): event.packet
    case .readRemoteVersionInformationComplete(let event): event.packet
    case .commandComplete(let event): event.packet
    case .commandStatus(let event): event.packet
    case .numberOfCompletedPackets(let event): event.packet
    case .leConnectionComplete(let event): event.packet
    case .leEnhancedConnectionComplete(let event): event.packet
    case .leAdvertisingReport(let event): event.packet
    case .leExtendedAdvertisingReport(let event): event.packet
    case .leConnectionUpdateComplete(let event): event.packet
    case .leReadRemoteFeaturesComplete(let event): event.packet
    case .leLongTermKeyRequest(let event): event.packet
    case .leRemoteConnectionParameterRequest(let event): event.packet
    case .leDataLengthChange(let event): event.packet
    case .lePHYUpdateComplete(let event): event.packet
    case .leSubrateChange(let event): event.packet
    case .leReadAllRemoteFeaturesComplete(let event): event.packet
    case .leConnectionRateChange(let event): event.packet
    case .leAdvertisingSetTerminated(let event): event.packet
    case .lePeriodicAdvertisingSyncEstablished(let event): event.packet
    case .lePeriodicAdvertisingReport(let event): event.packet
    case .lePeriodicAdvertisingSyncLost(let event): event.packet
    case .lePeriodicAdvertisingSyncTransferReceived(let event): event.packet
    case .lePeriodicAdvertisingSyncEstablishedV2(let event): event.packet
    case .lePeriodicAdvertisingReportV2(let event): event.packet
    case .lePeriodicAdvertisingSyncTransferReceivedV2(let event): event.packet
    case .lePeriodicAdvertisingSubeventDataRequest(let event): event.packet
    case .lePeriodicAdvertisingResponseReport(let event): event.packet
    case .leMonitoredAdvertisersReport(let event): event.packet
    case .other(let packet): packet
    }
  }
}
