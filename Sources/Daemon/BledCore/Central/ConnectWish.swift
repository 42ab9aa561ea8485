import Adapter
import BledRPC
import Bluetooth

/// The wishes of a call of `peripheral.connect` besides the device: read and checked once, when the call comes.
struct ConnectWish {
  /// The seconds after which the call fails; nil: never.
  var timeout: Double?
  /// Whether the link is reestablished when it is lost.
  let persists: Bool
  /// The parameters of the link; nil: as before.
  let parameters: CheckedWish?
  /// The PHY of the link; nil: as before.
  let phy: LinkPHY?

  /// Reads the params of a call.
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
