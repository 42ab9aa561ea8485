import Adapter
import Bluetooth
import HCI

/// What the machines of a controller want done or told.
enum RadioAction: Hashable {
  /// Send this to the controller.
  case send(CommandPacket)
  /// Tell that the scan began or ceased.
  case scanning(Bool)
  /// Tell what was received.
  case report(AdvertisingReport)
  /// Tell what became of an advertisement.
  case advertising(AdvertisingSetID, AdvertisingStatus)
  /// Tell that an attempt to connect failed.
  case attemptFailed(DeviceAddress, BluetoothError)
  /// A link that we wanted is there: give it an ATT socket.
  case attach(handle: UInt16, DeviceAddress, attempts: Int)
  /// A link came up, either way.
  case linkUp(handle: UInt16, LinkRole, LinkParameters)
  /// A link is no more.
  case linkDown(handle: UInt16, HCIStatus)
  /// The parameters of a link changed.
  case linkParameters(handle: UInt16, LinkParameters)
  /// The parameters of a link stay as they are.
  case linkParametersRefused(handle: UInt16)
  /// The encryption of a link changed.
  case encryptionChanged(handle: UInt16)
  /// A question was answered.
  case answered(question: Int, CommandSlot.Answer)
  /// The controller does not answer any more.
  case broken(String)
  /// Nothing is wanted any more and nothing goes on.
  case quiet
  /// Something for the log.
  case log(String)
}
