import Adapter
import BledRPC
import Bluetooth

/// The options of a `peripheral.connect` call besides the device, read and checked once on arrival.
struct ConnectWish {
  /// The call's timeout in seconds; nil: never.
  var timeout: Double?
  /// True to reestablish a lost link.
  let persists: Bool
  /// The connection parameters; nil: unchanged.
  let parameters: CheckedWish?
  /// The PHY; nil: unchanged.
  let phy: LinkPHY?

  /// Reads a call's params.
  /// - Throws: `BledError.invalidParameter`.
  init(_ params: PeripheralConnect.Params) throws(BluetoothError) {
    if let timeout = params.timeout, !(timeout > 0 && timeout <= 86_400 * 365) {
      throw BledError.invalidParameter.error("\"timeout\" must be more than 0 seconds and at most a year")
    }
    timeout = params.timeout
    persists = params.reconnect ?? false
    parameters = if let wish = params.parameters { try CheckedWish(wish) } else { nil }
    phy = params.phy.map { LinkPHY(choice: $0) }
  }
}
