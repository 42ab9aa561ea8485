import Adapter
import Bluetooth

extension ControllerProfile {
  /// How many advertisements are sent at once. Of a random address the kernel knows only that of the first set: pairing
  /// with a central that came through another fails. So a controller without a public address uses the first alone.
  var usableAdvertisingSets: Int { address.kind == .random ? 1 : advertisingSets }

  /// Why an advertisement can never be sent; nil if it can.
  func problem(with parameters: AdvertisingParameters) -> BluetoothError? {
    let longest = max(parameters.data.count, parameters.scanResponse.count)
    if longest > advertisingDataLength {
      return GAPError.advertisingDataTooLong.error(
        "The advertisement has \(longest) octets; this adapter sends at most \(advertisingDataLength).")
    }
    if longest > 31, !parameters.scanResponse.isEmpty, parameters.isConnectable || !parameters.data.isEmpty {
      return GAPError.advertisingDataTooLong.error(
        "An advertisement of more than 31 octets cannot have a scan response as well: merge the two.")
    }
    return nil
  }
}
