import Adapter
import HCI

extension LegacyFamily {
  // Bluetooth 4 has no periodic advertising: requests for it are refused before.
  static func preparePeriodic(handle: UInt8, _ periodic: PeriodicAdvertising) -> [FamilyCommand<Self>] { [] }
  static func periodicEnable(handle: UInt8, _ isEnabled: Bool) -> [FamilyCommand<Self>] { [] }
}

extension ExtendedFamily {
  static func preparePeriodic(handle: UInt8, _ periodic: PeriodicAdvertising) -> [FamilyCommand<Self>] {
    let interval = TimeUnits.periodic(periodic.interval)
    let parameters = LESetPeriodicAdvertisingParameters {
      $0.advertisingHandle = handle
      $0.intervalMin = interval
      $0.intervalMax = interval
      $0.properties = periodic.includesTxPower ? LESetPeriodicAdvertisingParameters.includesTxPower : 0
    }
    if let responses = periodic.responses {
      return [FamilyCommand(LESetPeriodicAdvertisingParametersV2(parameters, responses))]
    }
    return [FamilyCommand(parameters)]
      + LESetPeriodicAdvertisingData.fragments(of: periodic.data, advertisingHandle: handle).map { FamilyCommand($0) }
  }

  static func periodicEnable(handle: UInt8, _ isEnabled: Bool) -> [FamilyCommand<Self>] {
    [
      FamilyCommand(
        LESetPeriodicAdvertisingEnable {
          $0.isEnabled = isEnabled
          $0.advertisingHandle = handle
        })
    ]
  }
}

extension LESetPeriodicAdvertisingParametersV2 {
  init(_ parameters: LESetPeriodicAdvertisingParameters, _ responses: ResponseSlots) {
    self.init()
    self.parameters = parameters
    subevents = UInt8(clamping: responses.subevents)
    subeventInterval = TimeUnits.subevent(responses.subeventInterval)
    slotDelay = TimeUnits.slotDelay(responses.delay)
    slotSpacing = TimeUnits.slotSpacing(responses.spacing)
    slots = UInt8(clamping: responses.count)
  }
}
