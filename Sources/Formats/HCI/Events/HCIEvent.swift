/// The parameters of one kind of event.
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

/// The parameters of one kind of LE Meta event (Core 5.4, Vol 4, Part E, 7.7.65).
package protocol LEMetaEventParameters: HCIEventParameters {}

extension LEMetaEventParameters {
  package static var code: UInt8 { HCIEvent.leMeta }
}

/// An event of the controller with its meaning (Core 5.4, Vol 4, Part E, 7.7).
package enum HCIEvent: Hashable, Sendable {
  /// A link ended.
  case disconnectionComplete(DisconnectionComplete)
  /// Encryption of a link was switched.
  case encryptionChange(EncryptionChange)
  /// The key of an encrypted link was renewed.
  case encryptionKeyRefreshComplete(EncryptionKeyRefreshComplete)
  /// The other controller told its version.
  case readRemoteVersionInformationComplete(ReadRemoteVersionInformationComplete)
  /// A command was carried out.
  case commandComplete(CommandComplete)
  /// A command was begun or refused.
  case commandStatus(CommandStatus)
  /// Data left the controller.
  case numberOfCompletedPackets(NumberOfCompletedPackets)
  /// A link came up or could not.
  case leConnectionComplete(LEConnectionComplete)
  /// A link came up or could not, told with private addresses.
  case leEnhancedConnectionComplete(LEEnhancedConnectionComplete)
  /// Legacy advertising was received.
  case leAdvertisingReport(LEAdvertisingReports)
  /// Advertising was received, told in the extended form.
  case leExtendedAdvertisingReport(LEExtendedAdvertisingReports)
  /// The parameters of a link changed.
  case leConnectionUpdateComplete(LEConnectionUpdateComplete)
  /// The other controller told its features.
  case leReadRemoteFeaturesComplete(LEReadRemoteFeaturesComplete)
  /// The other device wants to encrypt.
  case leLongTermKeyRequest(LELongTermKeyRequest)
  /// The other device wants other parameters of the link.
  case leRemoteConnectionParameterRequest(LERemoteConnectionParameterRequest)
  /// The lengths of link layer packets changed.
  case leDataLengthChange(LEDataLengthChange)
  /// The PHYs of a link changed.
  case lePHYUpdateComplete(LEPHYUpdateComplete)
  /// The subrating of a link changed.
  case leSubrateChange(LESubrateChange)
  /// The other controller told its features, of more pages than the first.
  case leReadAllRemoteFeaturesComplete(LEReadAllRemoteFeaturesComplete)
  /// The interval and the subrating of a link changed.
  case leConnectionRateChange(LEConnectionRateChange)
  /// An extended set ceased.
  case leAdvertisingSetTerminated(LEAdvertisingSetTerminated)
  /// The controller is synchronised with a periodic train, or could not be.
  case lePeriodicAdvertisingSyncEstablished(LEPeriodicAdvertisingSyncEstablished)
  /// Part of a packet of a train was received, or all of it.
  case lePeriodicAdvertisingReport(LEPeriodicAdvertisingReport)
  /// A train was lost.
  case lePeriodicAdvertisingSyncLost(LEPeriodicAdvertisingSyncLost)
  /// The device of a link transferred a train.
  case lePeriodicAdvertisingSyncTransferReceived(LEPeriodicAdvertisingSyncTransferReceived)
  /// The controller is synchronised with a periodic train, or could not be, told with the subevents of the train.
  case lePeriodicAdvertisingSyncEstablishedV2(LEPeriodicAdvertisingSyncEstablishedV2)
  /// Part of a packet of a train was received, or all of it, in a subevent.
  case lePeriodicAdvertisingReportV2(LEPeriodicAdvertisingReportV2)
  /// The device of a link transferred a train, told with its subevents.
  case lePeriodicAdvertisingSyncTransferReceivedV2(LEPeriodicAdvertisingSyncTransferReceivedV2)
  /// Subevents of a train need their data.
  case lePeriodicAdvertisingSubeventDataRequest(LEPeriodicAdvertisingSubeventDataRequest)
  /// Devices responded to a subevent of a train.
  case lePeriodicAdvertisingResponseReport(LEPeriodicAdvertisingResponseReport)
  /// A monitored device is there, or is not any more.
  case leMonitoredAdvertisersReport(LEMonitoredAdvertisersReport)
  /// Any other event.
  case other(EventPacket)

  /// The code of LE Meta events; their parameters begin with the code of a subevent.
  package static let leMeta: UInt8 = 0x3E

  /// Finds the meaning of an event. Octets that follow the parameters are ignored, for controllers of later versions
  /// append fields.
  /// - Throws: `.truncated` if the parameters end too early, `.invalidValue` for a value that is not defined.
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
