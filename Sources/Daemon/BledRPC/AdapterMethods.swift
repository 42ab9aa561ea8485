/// Blocks a device, or unblocks it.
public enum AdapterBlock: ClientCall {
  public typealias Result = Empty
  public static let method = MethodDescription(
    "adapter.block", needs: .adapters,
    """
    Blocks a device for all programs, or unblocks it: links with it end, pending connections to it fail with the gap \
    error blocked, and so does peripheral.connect; a link that the device starts ends at once. It is still heard. A \
    device is known by its address: one that uses private addresses is recognised only while it is paired. This lasts \
    over restarts and peripheral.forget.
    """)

  public struct Params: RPCPayload, Hashable {
    /// The daemon's identifier of the device.
    public var peripheral: String
    /// False unblocks the device. True if missing.
    public var on: Bool?
    public init(peripheral: String, on: Bool? = nil) {
      self.peripheral = peripheral
      self.on = on
    }
  }
}

/// Sets the name under which devices see this machine.
public enum AdapterSetName: ClientCall {
  public typealias Result = Empty
  public static let method = MethodDescription(
    "adapter.setName", needs: .adapters,
    """
    Sets the Device Name of the Generic Access service (Core 5.4, Vol 3, Part C, 12.1), which devices read, on all \
    adapters. It lasts over restarts. Without a name it is again that of the configuration. adapter.changed is sent to \
    every session. Names in advertisements are those of advertising.start.
    """)

  public struct Params: RPCPayload, Hashable {
    /// The name, 1 to 248 octets; that of the configuration if missing.
    public var name: String?
    public init(name: String? = nil) { self.name = name }
  }
}
