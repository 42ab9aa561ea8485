/// Blocks a device, or unblocks it.
public enum AdapterBlock: ClientCall {
  /// The result is empty.
  public typealias Result = Empty
  /// `adapter.block`
  public static let name = "adapter.block"
  /// `adapters`: the device is blocked for all programs.
  public static let permission: Permission? = .adapters
  /// For `rpc.discover`.
  public static let summary = """
    Blocks a device for all programs, or unblocks it: links with it end, pending connections to it fail with the gap \
    error blocked, and so does peripheral.connect; a link that the device starts ends at once. It is still heard. A \
    device is known by its address: one that uses private addresses is recognised only while it is paired. This lasts \
    over restarts and peripheral.forget.
    """

  /// The parameters.
  public struct Params: RPCPayload, Hashable {
    /// The daemon's identifier of the device.
    public var peripheral: String
    /// False unblocks the device. True if missing.
    public var on: Bool?
    /// Makes the params.
    public init(peripheral: String, on: Bool? = nil) {
      self.peripheral = peripheral
      self.on = on
    }
  }
}
