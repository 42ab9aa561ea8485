import Adapter
import Bluetooth
import HCI

/// A sequence of commands for one set, and its state when all of them succeeded.
struct AdvertisingScript<Family: RadioFamily> {
  enum Outcome: Hashable {
    case phase(AdvertisingEntry.Phase)
    /// Its turn is over: the handle is free.
    case rested
    /// The set has left the controller.
    case removed
  }

  let set: AdvertisingSetID
  var commands: [FamilyCommand<Family>]
  let outcome: Outcome
  /// The former parameters, for a set that stays on the air with other data.
  var former: AdvertisingParameters?
}

extension AdvertisingScript {
  /// The commands to put a set on the air.
  /// - Parameters:
  ///   - own: the controller's address.
  ///   - events: the number of advertising events until its end; 0 for no limit.
  ///   - former: the necessary steps with the handle before.
  static func start(
    _ set: AdvertisingSetID, _ handle: UInt8, _ wanted: AdvertisingParameters, own: DeviceAddress, events: UInt8,
    after former: AdvertisingHandles.Former
  ) -> Self {
    var commands = former.endsPeriodic ? Family.periodicEnable(handle: handle, false) : []
    if former.forgets { commands += Family.forgetAdvertising(handle: handle) }
    commands += Family.prepareAdvertising(handle: handle, wanted, own: own)
    if let periodic = wanted.periodic { commands += Family.preparePeriodic(handle: handle, periodic) }
    let enable = enable(set, handle, wanted, events: events)
    return Self(set: set, commands: commands + enable.commands, outcome: enable.outcome)
  }

  /// The commands to put a set on the air that the controller knows already. Its train begins with it, or continues.
  static func enable(_ set: AdvertisingSetID, _ handle: UInt8, _ wanted: AdvertisingParameters, events: UInt8) -> Self {
    let begin = [Family.advertisingBegin(handle: handle, wanted, events: events)]
    let periodic = wanted.periodic == nil ? [] : Family.periodicEnable(handle: handle, true)
    return Self(set: set, commands: begin + periodic, outcome: .phase(.on(wanted)))
  }

  /// The commands to change a set's data on the air.
  static func update(
    _ set: AdvertisingSetID, _ handle: UInt8, from former: AdvertisingParameters, to wanted: AdvertisingParameters
  ) -> Self {
    let commands = Family.advertisingData(handle: handle, wanted, after: former)
    return Self(set: set, commands: commands, outcome: .phase(.on(wanted)), former: former)
  }

  /// The commands to take a set off the air, with its train.
  /// - Parameter removes: true if the controller forgets it, too.
  static func off(
    _ set: AdvertisingSetID, _ handle: UInt8, _ outcome: Outcome, endsPeriodic: Bool, removes: Bool = false
  ) -> Self {
    var commands = [Family.advertisingEnd(handle: handle)]
    if endsPeriodic { commands += Family.periodicEnable(handle: handle, false) }
    if removes { commands += Family.forgetAdvertising(handle: handle) }
    return Self(set: set, commands: commands, outcome: outcome)
  }

  /// The commands to make the controller forget a set that is off, although its train may not be.
  static func forget(_ set: AdvertisingSetID, _ handle: UInt8, endsPeriodic: Bool) -> Self {
    let forget = Family.forgetAdvertising(handle: handle)
    let end = endsPeriodic ? Family.periodicEnable(handle: handle, false) : []
    return Self(
      set: set, commands: forget.isEmpty ? [Family.advertisingEnd(handle: handle)] : end + forget, outcome: .removed)
  }
}
