/// The direction of a characteristic's values on a socket (BlueZ, org.bluez.GattCharacteristic); its raw value is the
/// method.
enum AcquiredDirection: String {
  case writes = "AcquireWrite"
  case values = "AcquireNotify"

  /// The property that is true while a program has the socket.
  var property: String { self == .writes ? "WriteAcquired" : "NotifyAcquired" }
}
