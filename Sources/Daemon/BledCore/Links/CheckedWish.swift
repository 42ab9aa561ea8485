import Adapter
import BledRPC
import Bluetooth

/// The parameters that a session wants of a link: as it said them, and in the controllers' units.
struct CheckedWish: Equatable {
  /// The words of the session, for storing and listing.
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
