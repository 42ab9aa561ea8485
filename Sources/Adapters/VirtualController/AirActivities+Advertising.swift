import Bluetooth
import HCI

/// The commands about advertisements: those of both families act on the same sets.
extension AirActivities {
  /// - Returns: the answer behind its status; nil for a command about something else.
  func executeAdvertising(_ packet: CommandPacket) throws(Refusal) -> [UInt8]? {
    switch packet.opcode {
    case LESetAdvertisingParameters.opcode: try adopt(packet.decoded() as LESetAdvertisingParameters)
    case LESetAdvertisingData.opcode:
      try advertising.set(0).broadcast.advertisement.data = (packet.decoded() as LESetAdvertisingData).data
    case LESetScanResponseData.opcode:
      try advertising.set(0).broadcast.advertisement.scanResponse = (packet.decoded() as LESetScanResponseData).data
    case LESetAdvertisingEnable.opcode:
      _ = try advertising.set(0)
      let isEnabled = (try packet.decoded() as LESetAdvertisingEnable).isEnabled
      if isEnabled { try advertising.enable(0) } else { try advertising.disable(0) }
    default: return model.isExtended ? try executeExtended(packet) : nil
    }
    return []
  }

  private func adopt(_ wanted: LESetAdvertisingParameters) throws(Refusal) {
    let set = try advertising.set(0)
    if set.isEnabled { throw Refusal(.commandDisallowed) }
    set.ownAddressType = wanted.ownAddressType
    set.filterPolicy = wanted.filterPolicy
    set.isHighDuty = wanted.type == .directedHighDutyCycle
    set.broadcast.interval = TimeUnits.slots(wanted.intervalMax)
    let isDirected = wanted.type == .directedHighDutyCycle || wanted.type == .directedLowDutyCycle
    set.broadcast.advertisement.target = isDirected ? wanted.peer : nil
    set.broadcast.advertisement.isConnectable = isDirected || wanted.type == .connectableUndirected
    set.broadcast.advertisement.isScannable =
      wanted.type == .connectableUndirected || wanted.type == .scannableUndirected
  }

  private func executeExtended(_ packet: CommandPacket) throws(Refusal) -> [UInt8]? {
    switch packet.opcode {
    case LESetExtendedAdvertisingParameters.opcode:
      try adopt(packet.decoded() as LESetExtendedAdvertisingParameters)
      // The transmission power, in dBm.
      return [0]
    case LESetExtendedAdvertisingParametersV2.opcode where model.features.contains(.advertisingCodingSelection):
      // Packets of either coding arrive.
      try adopt((packet.decoded() as LESetExtendedAdvertisingParametersV2).parameters)
      return [0]
    case LESetAdvertisingSetRandomAddress.opcode:
      let wanted: LESetAdvertisingSetRandomAddress = try packet.decoded()
      let set = try advertising.existing(wanted.advertisingHandle)
      if set.isEnabled, set.broadcast.advertisement.isConnectable { throw Refusal(.commandDisallowed) }
      set.randomAddress = wanted.address
    case LESetExtendedAdvertisingData.opcode:
      let fragment = (try packet.decoded() as LESetExtendedAdvertisingData).fragment
      try append(fragment, \.data)
    case LESetExtendedScanResponseData.opcode:
      let fragment = (try packet.decoded() as LESetExtendedScanResponseData).fragment
      try append(fragment, \.scanResponse)
    case LESetExtendedAdvertisingEnable.opcode: try enable(packet.decoded() as LESetExtendedAdvertisingEnable)
    case LERemoveAdvertisingSet.opcode:
      try advertising.remove((packet.decoded() as LERemoveAdvertisingSet).advertisingHandle)
    case LEClearAdvertisingSets.opcode:
      if advertising.isBusy { throw Refusal(.commandDisallowed) }
      advertising.clear()
    default: return nil
    }
    return []
  }

  private func adopt(_ wanted: LESetExtendedAdvertisingParameters) throws(Refusal) {
    let set = try advertising.set(wanted.advertisingHandle)
    if set.isEnabled { throw Refusal(.commandDisallowed) }
    guard let primary = PHY(rawValue: wanted.primaryPHY), let secondary = PHY(rawValue: wanted.secondaryPHY) else {
      throw Refusal(.invalidHCICommandParameters)
    }
    var new = set.broadcast.advertisement
    new.target = wanted.properties.contains(.directed) ? wanted.peer : nil
    new.isConnectable = wanted.properties.contains(.connectable)
    new.isScannable = wanted.properties.contains(.scannable)
    new.isLegacy = wanted.properties.contains(.legacyPDUs)
    new.isAnonymous = wanted.properties.contains(.anonymous)
    // Controllers choose the power if the host does not, and all of these choose 0.
    new.txPower = wanted.properties.contains(.includesTxPower) ? wanted.txPower == 127 ? 0 : wanted.txPower : 127
    (new.primaryPHY, new.secondaryPHY, new.sid) = (primary, secondary, wanted.sid)
    guard !set.isTrainEnabled || new.canAnnounceTrain else { throw Refusal(.invalidHCICommandParameters) }
    set.broadcast.advertisement = new
    set.ownAddressType = wanted.ownAddressType
    set.filterPolicy = wanted.filterPolicy
    set.isHighDuty = wanted.properties.contains(.highDutyCycle)
    set.broadcast.interval = .microseconds(Int64(wanted.intervalMax) * 625)
  }

  private func append(
    _ fragment: AdvertisingDataFragment, _ part: WritableKeyPath<Advertisement, [UInt8]>
  ) throws(Refusal) {
    let broadcast = try advertising.existing(fragment.advertisingHandle).broadcast
    let isNew = fragment.operation == .first || fragment.operation == .complete
    let data = (isNew ? [] : broadcast.advertisement[keyPath: part]) + fragment.data
    guard data.count <= (broadcast.advertisement.isLegacy ? 31 : Int(model.advertisingDataLength)) else {
      throw Refusal(.memoryCapacityExceeded)
    }
    broadcast.advertisement[keyPath: part] = data
  }

  private func enable(_ wanted: LESetExtendedAdvertisingEnable) throws(Refusal) {
    if wanted.sets.isEmpty, !wanted.isEnabled { return advertising.disableAll() }
    for set in wanted.sets {
      if wanted.isEnabled {
        try advertising.enable(
          set.advertisingHandle, duration: set.duration, maximumEvents: set.maximumEvents)
      } else {
        try advertising.disable(set.advertisingHandle)
      }
    }
  }
}
