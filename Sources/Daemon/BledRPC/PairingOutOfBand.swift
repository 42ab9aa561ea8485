import Bluetooth

/// Makes data that let a device pair without a question.
public enum PairingReadOutOfBand: ClientCall {
  public static let method = MethodDescription(
    "pairing.readOutOfBand", needs: .pair,
    """
    Makes data that are given to a device by another way than the air, such as a QR code or NFC. Whoever has them may \
    pair with this adapter without a question, until this session ends; the link is authenticated then. Data that were \
    made before, by whatever session, are worth nothing any more.
    """)

  public struct Params: RPCPayload {
    /// The adapter's identifier or address; the first one if missing.
    public var adapter: String?
    public init(adapter: String? = nil) { self.adapter = adapter }
  }

  public struct Result: RPCPayload, Hashable {
    /// The adapter's address.
    public var address: String
    /// "public" or "random".
    public var addressType: Word<DeviceAddress.Kind>
    /// The confirmation value, 16 octets, the lowest first as in AD structures of type 0x22.
    public var confirmation: HexBytes
    /// The random value, 16 octets, the lowest first as in AD structures of type 0x23.
    public var random: HexBytes
    /// The temporary key, 16 octets, the lowest first as in AD structures of type 0x10: for devices without LE Secure
    /// Connections, which begin to pair. It is for one device: after its pairing read them again. Missing where the
    /// adapter is the kernel's.
    public var temporaryKey: HexBytes?
    public init(
      address: String, addressType: Word<DeviceAddress.Kind>, confirmation: HexBytes, random: HexBytes,
      temporaryKey: HexBytes? = nil
    ) {
      self.address = address
      self.addressType = addressType
      self.confirmation = confirmation
      self.random = random
      self.temporaryKey = temporaryKey
    }
  }
}

/// Gives the data that a device passed by another way than the air.
public enum PairingSetOutOfBand: ClientCall {
  public typealias Result = Empty
  public static let method = MethodDescription(
    "pairing.setOutOfBand", needs: .pair,
    """
    Tells the daemon the data that a device gave by another way than the air: "confirmation" and "random" for LE Secure \
    Connections, "temporaryKey" for legacy pairing, or both. The device may pair without a question then, whoever \
    begins, and its link is authenticated. They hold until this session ends, or calls this without any. Kernel adapters \
    refuse a temporary key with notSupported.
    """)

  public struct Params: RPCPayload {
    /// The adapter's identifier or address; the first one if missing.
    public var adapter: String?
    /// The device's address, given with the data.
    public var address: String
    /// "public" or "random".
    public var addressType: DeviceAddress.Kind
    /// The confirmation value, 16 octets, the lowest first.
    public var confirmation: HexBytes?
    /// The random value, 16 octets, the lowest first.
    public var random: HexBytes?
    /// The temporary key, 16 octets, the lowest first, not all zero. If it is given alone, the pairing is a legacy one,
    /// unless a higher level than "authenticated" is requested.
    public var temporaryKey: HexBytes?
    public init(
      adapter: String? = nil, address: String, addressType: DeviceAddress.Kind, confirmation: HexBytes? = nil,
      random: HexBytes? = nil, temporaryKey: HexBytes? = nil
    ) {
      self.adapter = adapter
      self.address = address
      self.addressType = addressType
      self.confirmation = confirmation
      self.random = random
      self.temporaryKey = temporaryKey
    }
  }
}
