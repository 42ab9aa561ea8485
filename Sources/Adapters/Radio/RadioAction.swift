import Adapter
import Bluetooth
import HCI

/// The actions and reports of a controller's machines.
package enum RadioAction: Hashable {
  /// Send this to the controller.
  case send(CommandPacket)
  /// Report that the scan started or stopped.
  case scanning(Bool)
  /// Report that the controller watches for the scan's devices, or no longer.
  case watching(Bool)
  /// Report that a device that the controller watches for is there, or is not any more.
  case presence(DeviceAddress, Bool)
  /// Report the state of an advertisement.
  case advertising(AdvertisingSetID, AdvertisingStatus)
  /// Report an event of a periodic train.
  case periodic(PeriodicTrain, PeriodicEvent)
  /// Report the responses of devices to a subevent.
  case responses(AdvertisingSetID, SubeventResponses)
  /// The device of a link transferred a train, which is followed: it has to be wanted, or withdrawn.
  case trainReceived(handle: UInt16, ReceivedTrain)
  /// The device of a link transferred a train that cannot be followed.
  case trainNotReceived(handle: UInt16, HCIStatus)
  /// Report that an attempt to connect failed.
  case attemptFailed(DeviceAddress, BluetoothError)
  /// Report that a device could not be tried for a while.
  case connectWaiting(DeviceAddress, BluetoothError)
  /// The controller cannot do at once all that is wanted: some activities take turns, and others wait for links to end.
  case sharing(Set<LEStates.Activity>, heldBack: Set<LEStates.Activity>)
  /// Something that the controller says it has does not work: it is to be opened anew without that.
  case faulty(Quirk)
  /// The controller showed a quirk, or showed that it has not this one.
  case quirk(Quirk, Bool)
  /// The controller may have begun anew, and is set up again: settings of the owner are to follow.
  case renewed
  /// A link that we initiated exists: give it an ATT socket.
  case attach(handle: UInt16, DeviceAddress, attempts: Int)
  /// A link came up, whichever side initiated it: with this device, unless the controller names none. Of a link that
  /// came up unheard the parameters are not known.
  case linkUp(handle: UInt16, LinkRole, DeviceAddress?, LinkParameters?)
  /// A link has ended.
  case linkDown(handle: UInt16, HCIStatus)
  /// The controller told something about a link.
  case link(handle: UInt16, LinkNews)
  /// The encryption of a link changed, or did not, for this reason.
  case encryptionChanged(handle: UInt16, HCIStatus)
  /// A link could not be encrypted because one side has no key for it: the device, or the kernel.
  case keysMissing(handle: UInt16, theirs: Bool)
  /// A question was answered.
  case answered(question: Int, CommandSlot.Answer)
  /// The controller cannot be used any longer.
  case broken(ControllerFailure)
  /// Nothing is wanted any more and all activities have ended.
  case quiet
  /// All that goes on after a pause has begun again, as far as the controller lets it.
  case resumed
  /// Something for the log.
  case log(String)
}
