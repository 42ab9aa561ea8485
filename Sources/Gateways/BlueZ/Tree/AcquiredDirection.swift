/// The direction in which a characteristic's values go over a socket (BlueZ, org.bluez.GattCharacteristic); its raw
/// value is the method.
enum AcquiredDirection: String {
  case writes = "AcquireWrite"
  case values = "AcquireNotify"

  /// The property that tells whether a program has the socket.
  var property: String { self == .writes ? "WriteAcquired" : "NotifyAcquired" }
}
