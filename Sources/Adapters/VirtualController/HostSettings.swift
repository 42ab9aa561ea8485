import HCI

/// The settings of a host for links: the features that it supports, and the rates that peripherals may request (Core
/// 6.2, Vol 4, Part E, 7.8.115, 7.8.123 and 7.8.155).
struct HostSettings {
  private(set) var acceptable = AcceptableRates()
  private var supported = ControllerFeatures()
  private let model: ControllerModel

  init(_ model: ControllerModel) { self.model = model }

  /// The features of the controller and its host.
  var features: ControllerFeatures {
    ControllerFeatures(
      first: model.features.union(supported.first), more: model.moreFeatures.union(supported.more))
  }

  /// - Parameter hasLinks: true if the controller has a link: the features are settled before.
  /// - Returns: the answer behind its status; nil for a command about something else.
  mutating func execute(_ packet: CommandPacket, hasLinks: Bool) throws(Refusal) -> [UInt8]? {
    switch packet.opcode {
    case LESetHostFeature.opcode where model.subrates || model.shortens:
      let wanted: LESetHostFeature = try packet.decoded()
      try support(UInt16(wanted.bit), wanted.value, hasLinks: hasLinks)
    case LESetHostFeatureV2.opcode where model.hasMoreFeatures:
      let wanted: LESetHostFeatureV2 = try packet.decoded()
      try support(wanted.bit, wanted.value, hasLinks: hasLinks)
    case LESetDefaultSubrate.opcode where model.subrates:
      let wanted: LESetDefaultSubrate = try packet.decoded()
      acceptable.subrate = try ConnectionRate(
        wanted.subrateMin, wanted.subrateMax, latency: wanted.maximumLatency,
        continuation: wanted.continuationNumber, timeout: wanted.supervisionTimeout
      ).validated()
    case LESetDefaultRateParameters.opcode where model.shortens:
      acceptable.rate = try (packet.decoded() as LESetDefaultRateParameters).rate.validated()
    case LEReadMinimumSupportedConnectionInterval.opcode where model.shortens:
      // No groups of intervals: all from this one on.
      return [UInt8(clamping: model.shortestInterval), 0]
    case LEReadAllLocalSupportedFeatures.opcode where model.hasMoreFeatures:
      let later = [UInt8](repeating: 0, count: 248 - 16)
      return [1] + features.first.rawValue.octets + features.more.rawValue.octets + later
    default: return nil
    }
    return []
  }

  private mutating func support(_ bit: UInt16, _ value: UInt8, hasLinks: Bool) throws(Refusal) {
    guard !hasLinks else { throw Refusal(.commandDisallowed) }
    switch bit {
    case 38 where model.subrates: supported.first = value == 1 ? .connectionSubratingHostSupport : []
    case 73 where model.shortens: supported.more = value == 1 ? .shorterConnectionIntervalsHostSupport : []
    default: throw Refusal(.unsupportedFeatureOrParameterValue)
    }
  }
}
