import BluetoothCrypto
import GATT

/// The attribute database that all links serve: bled's own services and those of the sessions.
final class ServerDatabase {
  var attributes = AttributeDatabase { message in DatabaseHash.code(of: message) }
}
