/// An event of the kernel's management interface with its meaning (mgmt-api).
public enum ManagementEvent: Hashable, Sendable {
  /// A command was carried out.
  case commandComplete(ManagementCommandComplete)
  /// A command was refused.
  case commandStatus(ManagementCommandStatus)
  /// A controller reported an error.
  case controllerError(ManagementControllerError)
  /// A controller is there.
  case indexAdded
  /// A controller is gone.
  case indexRemoved
  /// Settings changed.
  case newSettings(NewSettings)
  /// A key was agreed upon.
  case newLongTermKey(NewLongTermKey)
  /// A key was received.
  case newIdentityResolvingKey(NewIdentityResolvingKey)
  /// A key was received or sent.
  case newSignatureResolvingKey(NewSignatureResolvingKey)
  /// A link is there, in the kernel too.
  case deviceConnected(DeviceConnected)
  /// A link is gone.
  case deviceDisconnected(DeviceDisconnected)
  /// A link could not be made.
  case connectFailed(ConnectFailed)
  /// Somebody has to say yes or no.
  case userConfirmationRequest(UserConfirmationRequest)
  /// Somebody has to type a number.
  case userPasskeyRequest(UserPasskeyRequest)
  /// A number has to be shown.
  case passkeyNotify(PasskeyNotify)
  /// Pairing or encryption failed.
  case authenticationFailed(AuthenticationFailed)
  /// A bond was removed.
  case deviceUnpaired(DeviceUnpaired)
  /// A device asked for other connection parameters.
  case newConnectionParameters(NewConnectionParameters)
  /// Any other event.
  case other(ManagementPacket)

  /// Finds the meaning of an event.
  public init(decoding packet: ManagementPacket) throws(HCICodingError) {
    let octets = packet.parameters
    switch packet.code {
    case ManagementCommandComplete.code: self = .commandComplete(try .init(decoding: octets))
    case ManagementCommandStatus.code: self = .commandStatus(try .init(decoding: octets))
    case ManagementControllerError.code: self = .controllerError(try .init(decoding: octets))
    case 0x0004: self = .indexAdded
    case 0x0005: self = .indexRemoved
    case NewSettings.code: self = .newSettings(try .init(decoding: octets))
    case NewLongTermKey.code: self = .newLongTermKey(try .init(decoding: octets))
    case NewIdentityResolvingKey.code: self = .newIdentityResolvingKey(try .init(decoding: octets))
    case NewSignatureResolvingKey.code: self = .newSignatureResolvingKey(try .init(decoding: octets))
    case DeviceConnected.code: self = .deviceConnected(try .init(decoding: octets))
    case DeviceDisconnected.code: self = .deviceDisconnected(try .init(decoding: octets))
    case ConnectFailed.code: self = .connectFailed(try .init(decoding: octets))
    case UserConfirmationRequest.code: self = .userConfirmationRequest(try .init(decoding: octets))
    case UserPasskeyRequest.code: self = .userPasskeyRequest(try .init(decoding: octets))
    case PasskeyNotify.code: self = .passkeyNotify(try .init(decoding: octets))
    case AuthenticationFailed.code: self = .authenticationFailed(try .init(decoding: octets))
    case DeviceUnpaired.code: self = .deviceUnpaired(try .init(decoding: octets))
    case NewConnectionParameters.code: self = .newConnectionParameters(try .init(decoding: octets))
    default: self = .other(packet)
    }
  }
}
