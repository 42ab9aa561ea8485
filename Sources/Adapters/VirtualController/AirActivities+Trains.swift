import HCI

/// The commands about trains of the controller's own sets.
extension AirActivities {
  /// - Returns: the answer behind its status; nil for a command about something else.
  func executeTrains(_ packet: CommandPacket) throws(Refusal) -> [UInt8]? {
    guard model.isExtended, model.features.contains(.periodicAdvertising) else { return nil }
    switch packet.opcode {
    case LESetPeriodicAdvertisingParameters.opcode:
      let parameters: LESetPeriodicAdvertisingParameters = try packet.decoded()
      try describe(LESetPeriodicAdvertisingParametersV2 { $0.parameters = parameters })
    case LESetPeriodicAdvertisingData.opcode: try append(packet.decoded())
    case LESetPeriodicAdvertisingEnable.opcode:
      let wanted: LESetPeriodicAdvertisingEnable = try packet.decoded()
      try advertising.enableTrain(wanted.advertisingHandle, wanted.isEnabled)
    case LESetPeriodicAdvertisingParametersV2.opcode where hasResponses:
      let wanted: LESetPeriodicAdvertisingParametersV2 = try packet.decoded()
      try describe(wanted)
      return [wanted.parameters.advertisingHandle]
    case LESetPeriodicAdvertisingSubeventData.opcode where hasResponses:
      let wanted: LESetPeriodicAdvertisingSubeventData = try packet.decoded()
      let set = try advertising.existing(wanted.advertisingHandle)
      guard let train = set.train, train.hasSubevents else { throw Refusal(.commandDisallowed) }
      try train.subevents.send(wanted.subevents)
      return [wanted.advertisingHandle]
    default: return nil
    }
    return []
  }

  private var hasResponses: Bool { model.features.contains(.periodicResponsesAdvertiser) }

  private func describe(_ wanted: LESetPeriodicAdvertisingParametersV2) throws(Refusal) {
    let set = try advertising.existing(wanted.parameters.advertisingHandle)
    guard !set.isTrainEnabled else { throw Refusal(.commandDisallowed) }
    let parameters = TrainParameters(description: wanted, data: set.trainParameters?.data ?? [])
    guard set.broadcast.advertisement.canAnnounceTrain, parameters.isValid else {
      throw Refusal(.invalidHCICommandParameters)
    }
    set.trainParameters = parameters
  }

  private func append(_ fragment: LESetPeriodicAdvertisingData) throws(Refusal) {
    let set = try advertising.existing(fragment.advertisingHandle)
    guard let former = set.trainParameters else { throw Refusal(.commandDisallowed) }
    if fragment.operation == .unchanged { return }
    guard !set.isTrainEnabled || fragment.operation == .complete else { throw Refusal(.commandDisallowed) }
    let isNew = fragment.operation == .first || fragment.operation == .complete
    let data = (isNew ? [] : former.data) + fragment.data
    guard data.count <= Int(model.advertisingDataLength) else { throw Refusal(.memoryCapacityExceeded) }
    set.trainParameters?.data = data
    set.train?.data = data
  }
}
