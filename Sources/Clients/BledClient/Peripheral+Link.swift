import BledRPC
import Bluetooth

extension Peripheral {
  /// The parameters in force on the link: interval, latency, timeout, subrating, MTU, PHYs and packet lengths.
  /// - Throws: `GAPError.notConnected`; and as `BledClient.call`.
  public func parameters() async throws(BluetoothError) -> LinkDescription {
    try await client.call(PeripheralParameters.self, .init(peripheral: identifier))
  }

  /// Replaces this client's requests for the link's parameters, until it disconnects the device. The requests of all
  /// programs are merged: the quickest interval, the lowest subrate factor, the lowest latency, the longest timeout
  /// (Core 5.4, Vol 6, Part B, 4.5.1).
  /// - Parameter wish: Intervals in seconds, 0.000375 to 4, a latency of 0 to 499 events, a timeout in seconds, 0.1 to
  ///   32, subrate factors of 1 to 500 with a continuation number; nil removes the requests.
  /// - Returns: The values in force when the controllers have agreed.
  /// - Throws: `BledError.invalidParameter` for values that the specification forbids; `GAPError.notConnected`;
  ///   `GAPError.notSupported` if one side lacks connection subrating or, for intervals below 7.5 ms, shorter
  ///   connection intervals; an error of the domain `hci` if the controllers refuse; and as `BledClient.call`.
  @discardableResult
  public func setParameters(_ wish: LinkWish?) async throws(BluetoothError) -> LinkDescription {
    try await client.call(PeripheralSetParameters.self, .init(peripheral: identifier, parameters: wish))
  }

  /// Requests another PHY of the link.
  /// - Parameter phy: The PHY, with or without a preference for a coding.
  /// - Returns: The parameters in force when the controllers have settled them.
  /// - Throws: `GAPError.notSupported` if one side lacks it; `.notConnected`; and as `BledClient.call`.
  @discardableResult
  public func setPHY(_ phy: PHYChoice) async throws(BluetoothError) -> LinkDescription {
    try await client.call(PeripheralSetPHY.self, .init(peripheral: identifier, phy: phy))
  }

  /// The parameters in force, whenever they change from now on.
  /// - Returns: A stream that ends when the client is closed, and with an error when the connection breaks.
  public func parameterChanges() -> AsyncThrowingStream<LinkDescription, any Error> {
    client.notifications(PeripheralParametersChanged.self, buffering: .newest(16)) { [identifier] change in
      change.peripheral == identifier
    }
  }
}
