import BledRPC
import Bluetooth

extension BledClient {
  /// How a session outlasts its program.
  public struct Restoration: Hashable, Sendable {
    /// The identifier, 1 to 128 octets: one for each session of a user.
    public var identifier: String
    /// For how long the session is kept, more than 0; nil for as long as the daemon keeps any.
    public var keep: Duration?

    /// Makes a wish for restoration.
    public init(_ identifier: String, keep: Duration? = nil) {
      self.identifier = identifier
      self.keep = keep
    }
  }

  /// What the daemon kept of this session; nil if it is a new one. The events since then follow: be ready for them in the
  /// `prepare` of `connect`.
  public var restored: RestoredState? { session.restored }

  /// A device that the session is still connected to. Call it in the `prepare` of `connect`: later its end may have been
  /// missed.
  /// - Returns: nil for a device that is waited for: connect to it again, or observe `PeripheralConnected` and
  ///   `PeripheralConnectFailed`.
  public func peripheral(_ restored: RestoredState.Peripheral) -> Peripheral? {
    guard restored.state == "connected", let mtu = restored.mtu else { return nil }
    let link = PeripheralConnect.Result(
      peripheral: restored.peripheral, address: restored.address, addressType: restored.addressType,
      adapter: restored.adapter, mtu: mtu, attempts: 1)
    let watch = LinkWatch()
    watch.begin(on: core, restored.peripheral)
    return Peripheral(client: self, link: link, watch)
  }

  /// Ends the session and has everything given back, also what would be kept otherwise.
  /// - Throws: As `call`.
  public func end() async throws(BluetoothError) {
    _ = try await call(SessionEnd.self, .init())
    close()
  }
}
