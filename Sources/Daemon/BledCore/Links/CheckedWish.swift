import Adapter
import BledRPC
import Bluetooth

/// The link parameters requested by a session: in its words, and in the controllers' units.
struct CheckedWish: Equatable {
  /// The session's words, for storing and listing.
  let wish: LinkWish
  /// Their meaning.
  let parameters: ConnectionParameters

  /// Checks a wish.
  /// - Throws: `BledError.invalidParameter`, as `ConnectionParameters.init`.
  init(_ wish: LinkWish) throws(BluetoothError) {
    self.wish = wish
    parameters = try ConnectionParameters(wish)
  }
}
