import BledRPC
import Bluetooth

extension BledClient {
  /// Tells of each link that comes up or ends from now on, for whichever program. What is linked already is in the result of
  /// `PeripheralList`.
  /// - Returns: A stream that ends with `BledError.tooSlow` if more than 1024 are not fetched.
  /// - Throws: As `call`.
  public func linkChanges() async throws(BluetoothError) -> AsyncThrowingStream<PeripheralLinkChanged.Params, any Error>
  {
    let stream = notifications(PeripheralLinkChanged.self)
    _ = try await call(PeripheralWatch.self, .init())
    return stream
  }
}
