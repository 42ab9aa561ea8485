import HCI

/// A control packet between two link layers (Core 5.4, Vol 6, Part B, 2.4.2).
enum ControlPDU: Hashable {
  /// LL_FEATURE_REQ or LL_PERIPHERAL_FEATURE_REQ, and LL_FEATURE_RSP.
  case features(LEFeatures, isRequest: Bool)
  /// LL_VERSION_IND, first or in answer.
  case version(isRequest: Bool)
  /// LL_LENGTH_REQ and LL_LENGTH_RSP.
  case length(LinkLengths, isRequest: Bool)
  /// LL_PHY_REQ and LL_PHY_RSP: masks.
  case phys(tx: UInt8, rx: UInt8, isRequest: Bool)
  /// LL_PHY_UPDATE_IND: the PHYs of the central's and of the peripheral's packets; 0 for no change.
  case phyUpdate(central: UInt8, peripheral: UInt8, instant: UInt16)
  /// LL_CONNECTION_PARAM_REQ.
  case parameters(LinkTimes, minimum: UInt16)
  /// LL_CONNECTION_UPDATE_IND.
  case connectionUpdate(LinkTimes, instant: UInt16)
  /// LL_FEATURE_EXT_REQ and LL_FEATURE_EXT_RSP: the features beyond the first 64.
  case moreFeatures(LEMoreFeatures, isRequest: Bool)
  /// LL_SUBRATE_REQ.
  case subrateRequest(ConnectionRate)
  /// LL_SUBRATE_IND.
  case subrate(Subrating, latency: UInt16, timeout: UInt16)
  /// LL_CONNECTION_RATE_REQ.
  case rateRequest(ConnectionRate)
  /// LL_CONNECTION_RATE_IND.
  case rate(LinkTimes, Subrating, instant: UInt16)
  /// LL_ENC_REQ and LL_ENC_RSP.
  case encryption(random: UInt64, diversifier: UInt16), encryptionResponse
  /// LL_START_ENC_REQ, and LL_START_ENC_RSP, which is encrypted with the key.
  case startEncryption, startEncryptionResponse(key: [UInt8])
  /// LL_PAUSE_ENC_REQ, and LL_PAUSE_ENC_RSP of either side.
  case pauseEncryption, pauseEncryptionResponse
  /// LL_PERIODIC_SYNC_IND and LL_PERIODIC_SYNC_WR_IND.
  case periodicSync(TrainInformation, serviceData: UInt16)
  /// LL_REJECT_EXT_IND.
  case reject(Procedure.Kind, HCIErrorCode)
  /// LL_TERMINATE_IND.
  case terminate(HCIStatus)
}

/// The longest packets of a link's side, in octets.
struct LinkLengths: Hashable {
  var tx: UInt16 = 27
  var rx: UInt16 = 27
}

/// A procedure between link layers (Core 5.4, Vol 6, Part B, 5.1).
enum Procedure: Hashable {
  enum Kind: Hashable {
    case features, moreFeatures, version, length, phy, parameters, subrate, rate, encryption

    /// True for procedures that change the link at the same event of both sides: they exclude one another (5.3).
    var excludesOthers: Bool {
      switch self {
      case .phy, .parameters, .subrate, .rate: true
      case .features, .moreFeatures, .version, .length, .encryption: false
      }
    }
  }

  case features, moreFeatures, version
  case length(tx: UInt16)
  case phy(tx: UInt8, rx: UInt8)
  case parameters(LinkTimes, minimum: UInt16)
  case subrate(ConnectionRate)
  case rate(ConnectionRate)
  case encryption(key: [UInt8], random: UInt64, diversifier: UInt16)

  var kind: Kind {
    switch self {
    case .features: .features
    case .moreFeatures: .moreFeatures
    case .version: .version
    case .length: .length
    case .phy: .phy
    case .parameters: .parameters
    case .subrate: .subrate
    case .rate: .rate
    case .encryption: .encryption
    }
  }
}

/// A change of a link that both sides make at the same connection event.
enum LinkChange: Hashable {
  case times(LinkTimes)
  case phys(central: UInt8, peripheral: UInt8)
  case rate(LinkTimes, Subrating)
}
