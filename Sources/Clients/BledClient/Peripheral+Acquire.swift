import BledRPC
import Bluetooth

extension Peripheral {
  /// Acquires a characteristic: its values are passed over a descriptor of their own. Closing the descriptor ends that;
  /// the daemon's `GATTReleased` reports when the daemon ended it, and `GATTValuesDropped` counts the values dropped
  /// because the program did not read.
  /// - Parameters:
  ///   - characteristic: The characteristic.
  ///   - values: False if the program only writes; nil leaves that to the characteristic.
  ///   - writes: False if the program only reads values; nil leaves that to the characteristic. One program can have
  ///     the descriptor for writing, and another the one for values.
  ///   - indications: True to receive indications, false for notifications; nil leaves it to the daemon.
  /// - Returns: The descriptor and its use: a SOCK_SEQPACKET socket, which blocks. A written packet is sent as a Write
  ///   Command; a packet read is a value.
  /// - Throws: `BledError.alreadyInProgress` if it is acquired already, or this session has subscribed to it;
  ///   `.notAllowedByProperties`; `.limitReached`; and as `subscribe`.
  public func acquire(
    _ characteristic: AttributePath, values: Bool? = nil, writes: Bool? = nil, indications: Bool? = nil
  ) async throws(BluetoothError) -> (result: GATTAcquire.Result, descriptor: ReceivedDescriptor) {
    try await client.core.callForDescriptor(
      GATTAcquire.self,
      .init(
        peripheral: identifier, attribute: characteristic, values: values, writes: writes, indications: indications))
  }
}
