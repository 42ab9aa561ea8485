import Adapter
import Bluetooth
import HCI

/// The actions and reports from a controller's machines.
package enum RadioAction: Hashable {
  /// Send this to the controller.
  case send(CommandPacket)
  /// Report the start or stop of the scan.
  case scanning(Bool)
  /// Report the beginning or end of the controller's watch for the scan's devices.
  case watching(Bool)
  /// Report a watched device found or lost by the controller.
  case presence(DeviceAddress, Bool)
  /// Report an advertisement's state.
  case advertising(AdvertisingSetID, AdvertisingStatus)
  /// Report a periodic train's event.
  case periodic(PeriodicTrain, PeriodicEvent)
  /// Report the responses of devices to a subevent.
  case responses(AdvertisingSetID, SubeventResponses)
  /// A link's device transferred a train, which is followed: it has to be wanted, or withdrawn.
  case trainReceived(handle: UInt16, ReceivedTrain)
  /// A link's device transferred a train that cannot be followed.
  case trainNotReceived(handle: UInt16, HCIStatus)
  /// Report a failed connection attempt.
  case attemptFailed(DeviceAddress, BluetoothError)
  /// Report a device that could not be tried for a while.
  case connectWaiting(DeviceAddress, BluetoothError)
  /// The controller cannot run all wanted activities at once: some take turns, and others wait for links to end.
  case sharing(Set<LEStates.Activity>, heldBack: Set<LEStates.Activity>)
  /// Something that the controller says it has does not work: it is to be opened anew without that.
  case faulty(Quirk)
  /// The controller showed a quirk, or showed that it has not this one.
  case quirk(Quirk, Bool)
  /// The controller may have begun anew, and is set up again: settings of the owner are to follow.
  case renewed
  /// A link that we initiated exists: give it an ATT socket.
  case attach(handle: UInt16, DeviceAddress, attempts: Int)
  /// A link was established, whichever side initiated it: with this device, unless the controller names none. Without
  /// an event its parameters are unknown.
  case linkUp(handle: UInt16, LinkRole, DeviceAddress?, LinkParameters?)
  /// A link has ended.
  case linkDown(handle: UInt16, HCIStatus)
  /// The controller reported on a link.
  case link(handle: UInt16, LinkNews)
  /// A link's encryption changed, or failed to, for this reason.
  case encryptionChanged(handle: UInt16, HCIStatus)
  /// A link could not be encrypted because one side has no key for it: the device, or the kernel.
  case keysMissing(handle: UInt16, theirs: Bool)
  /// A question was answered.
  case answered(question: Int, CommandSlot.Answer)
  /// The controller cannot be used any longer.
  case broken(ControllerFailure)
  /// Nothing is wanted any longer and all activities have ended.
  case quiet
  /// Everything that continues after a pause has begun again, as far as the controller permits.
  case resumed
  /// A message for the log.
  case log(String)
}
