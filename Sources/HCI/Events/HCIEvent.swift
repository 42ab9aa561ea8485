/// An event of the controller with its meaning (Core 5.4, Vol 4, Part E, 7.7).
public enum HCIEvent: Hashable, Sendable {
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
  /// The controller is broken.
  case hardwareError(HardwareError)
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
  /// The lengths of link layer packets changed.
  case leDataLengthChange(LEDataLengthChange)
  /// The PHYs of a link changed.
  case lePHYUpdateComplete(LEPHYUpdateComplete)
  /// An extended set ceased.
  case leAdvertisingSetTerminated(LEAdvertisingSetTerminated)
  /// Any other event.
  case other(EventPacket)

  /// Finds the meaning of an event.
  public init(decoding packet: EventPacket) throws(HCICodingError) {
    var reader = OctetReader(packet.parameters)
    switch packet.code {
    case DisconnectionComplete.code: self = .disconnectionComplete(try DisconnectionComplete(from: &reader))
    case EncryptionChange.code: self = .encryptionChange(try EncryptionChange(from: &reader))
    case ReadRemoteVersionInformationComplete.code:
      self = .readRemoteVersionInformationComplete(try ReadRemoteVersionInformationComplete(from: &reader))
    case CommandComplete.code: self = .commandComplete(try CommandComplete(from: &reader))
    case CommandStatus.code: self = .commandStatus(try CommandStatus(from: &reader))
    case HardwareError.code: self = .hardwareError(try HardwareError(from: &reader))
    case NumberOfCompletedPackets.code: self = .numberOfCompletedPackets(try NumberOfCompletedPackets(from: &reader))
    case EncryptionKeyRefreshComplete.code:
      self = .encryptionKeyRefreshComplete(try EncryptionKeyRefreshComplete(from: &reader))
    case LEConnectionComplete.code:
      guard let event = try Self.leEvent(try reader.uint8(), &reader) else {
        self = .other(packet)
        return
      }
      self = event
    default:
      self = .other(packet)
      return
    }
    try reader.end()
  }

  private static func leEvent(_ subevent: UInt8, _ reader: inout OctetReader) throws(HCICodingError) -> HCIEvent? {
    switch subevent {
    case LEConnectionComplete.subevent: .leConnectionComplete(try LEConnectionComplete(from: &reader))
    case LEAdvertisingReports.subevent: .leAdvertisingReport(try LEAdvertisingReports(from: &reader))
    case LEConnectionUpdateComplete.subevent:
      .leConnectionUpdateComplete(try LEConnectionUpdateComplete(from: &reader))
    case LEReadRemoteFeaturesComplete.subevent:
      .leReadRemoteFeaturesComplete(try LEReadRemoteFeaturesComplete(from: &reader))
    case LELongTermKeyRequest.subevent: .leLongTermKeyRequest(try LELongTermKeyRequest(from: &reader))
    case LEDataLengthChange.subevent: .leDataLengthChange(try LEDataLengthChange(from: &reader))
    case LEEnhancedConnectionComplete.subevent:
      .leEnhancedConnectionComplete(try LEEnhancedConnectionComplete(from: &reader))
    case LEPHYUpdateComplete.subevent: .lePHYUpdateComplete(try LEPHYUpdateComplete(from: &reader))
    case LEExtendedAdvertisingReports.subevent:
      .leExtendedAdvertisingReport(try LEExtendedAdvertisingReports(from: &reader))
    case LEAdvertisingSetTerminated.subevent:
      .leAdvertisingSetTerminated(try LEAdvertisingSetTerminated(from: &reader))
    default: nil
    }
  }

  /// The event as a packet.
  public var packet: EventPacket {
    switch self {
    case .disconnectionComplete(let event): event.packet
    case .encryptionChange(let event): event.packet
    case .encryptionKeyRefreshComplete(let event): event.packet
    case .readRemoteVersionInformationComplete(let event): event.packet
    case .commandComplete(let event): event.packet
    case .commandStatus(let event): event.packet
    case .hardwareError(let event): event.packet
    case .numberOfCompletedPackets(let event): event.packet
    case .leConnectionComplete(let event): event.packet
    case .leEnhancedConnectionComplete(let event): event.packet
    case .leAdvertisingReport(let event): event.packet
    case .leExtendedAdvertisingReport(let event): event.packet
    case .leConnectionUpdateComplete(let event): event.packet
    case .leReadRemoteFeaturesComplete(let event): event.packet
    case .leLongTermKeyRequest(let event): event.packet
    case .leDataLengthChange(let event): event.packet
    case .lePHYUpdateComplete(let event): event.packet
    case .leAdvertisingSetTerminated(let event): event.packet
    case .other(let packet): packet
    }
  }
}
