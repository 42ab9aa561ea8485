import Bluetooth
import GATT

extension GATTResult {
  /// The failure of a device, or of our own stack, to answer with what was asked for.
  static func unexpected() -> BluetoothError {
    BledError.protocolViolation.error("the device's answer is not of the kind that was asked for")
  }
}
