import Adapter
import Bluetooth
import HCI

/// A sequence of commands for one set, and what is true when all of them went well.
struct AdvertisingScript<Family: RadioFamily> {
  enum Outcome: Hashable {
    case phase(AdvertisingEntry.Phase)
    /// Its turn is over: the handle is free.
    case rested
    /// It has left the controller.
    case removed
  }

  let set: AdvertisingSetID
  var commands: [FamilyCommand<Family>]
  let outcome: Outcome
}

extension AdvertisingScript {
  /// What puts a set on the air.
  /// - Parameters:
  ///   - own: the controller's address.
  ///   - events: after how many advertising events it ends; 0 for never.
  ///   - forgets: whether the controller has to forget what it has of the set before.
  static func start(
    _ set: AdvertisingSetID, _ handle: UInt8, _ wanted: AdvertisingParameters, own: DeviceAddress, events: UInt8,
    forgets: Bool
  ) -> Self {
    let forget = forgets ? Family.forgetAdvertising(handle: handle) : []
    let prepare = Family.prepareAdvertising(handle: handle, wanted, own: own)
    let begin = Family.advertisingBegin(handle: handle, wanted, events: events)
    return Self(set: set, commands: forget + prepare + [begin], outcome: .phase(.on(wanted)))
  }

  /// What puts a set on the air that the controller knows already.
  static func enable(_ set: AdvertisingSetID, _ handle: UInt8, _ wanted: AdvertisingParameters, events: UInt8) -> Self {
    let begin = Family.advertisingBegin(handle: handle, wanted, events: events)
    return Self(set: set, commands: [begin], outcome: .phase(.on(wanted)))
  }

  /// What takes a set off the air.
  /// - Parameter removes: whether the controller forgets it, too.
  static func off(_ set: AdvertisingSetID, _ handle: UInt8, _ outcome: Outcome, removes: Bool = false) -> Self {
    let end = [Family.advertisingEnd(handle: handle)]
    return Self(
      set: set, commands: removes ? end + Family.forgetAdvertising(handle: handle) : end, outcome: outcome)
  }

  /// What has the controller forget a set that is off.
  static func forget(_ set: AdvertisingSetID, _ handle: UInt8) -> Self {
    let forget = Family.forgetAdvertising(handle: handle)
    return Self(
      set: set, commands: forget.isEmpty ? [Family.advertisingEnd(handle: handle)] : forget, outcome: .removed)
  }
}
