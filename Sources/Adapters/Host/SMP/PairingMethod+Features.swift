import Adapter
import Bluetooth

extension PairingMethod {
  /// The method resulting from both sides' features (Core 5.4, Vol 3, Part H, 2.3.5.1, tables 2.6 to 2.8).
  /// - Parameters:
  ///   - request: the features of the initiator, which is central.
  ///   - response: the responder's features.
  init(_ request: PairingFeatures, _ response: PairingFeatures) {
    let isSecure = request.requirements.intersection(response.requirements).contains(.secureConnections)
    let sidesWithData = [request, response].count(where: \.hasOutOfBandData)
    if sidesWithData >= (isSecure ? 1 : 2) {
      self = .outOfBand
    } else {
      self.init(
        central: request.capability, peripheral: response.capability,
        isWanted: request.requirements.union(response.requirements).contains(.mitm), isSecure: isSecure)
    }
  }

  /// True if a passkey is typed at the side with this role.
  func isTyped(by role: LinkRole) -> Bool {
    switch self {
    case .passkey(let shows): shows != role
    case .typedPasskey: true
    case .justWorks, .comparison, .outOfBand: false
    }
  }
}
