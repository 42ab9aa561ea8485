import Bluetooth

/// Pairs with a device.
public enum PeripheralPair: ClientCall {
  public static let method = MethodDescription(
    "peripheral.pair", needs: .pair,
    """
    Raises the security of the link to a connected device: encrypts it with the keys of an earlier pairing, or pairs. A \
    device that has connected to this machine is asked to do so (Security Request). \
    Answers when the keys are stored. Questions go to this session first, if it has called pairing.register. A read, \
    write or subscription that the device refuses for lack of security does the same by itself and is then repeated.
    """)

  public struct Params: RPCPayload {
    /// The daemon's identifier of the device.
    public var peripheral: String
    /// "encrypted", "authenticated" (protected against a person in the middle) or "secureConnections" (also with LE
    /// Secure Connections); "encrypted" if missing.
    public var level: SecurityLevel?
    /// The shortest key that will do, 7 to 16 octets; 7 if missing.
    public var minimumKeySize: Int?
    public init(peripheral: String, level: SecurityLevel? = nil, minimumKeySize: Int? = nil) {
      self.peripheral = peripheral
      self.level = level
      self.minimumKeySize = minimumKeySize
    }
  }

  public struct Result: RPCPayload, Hashable {
    /// "encrypted", "authenticated" or "secureConnections".
    public var level: Word<SecurityLevel>
    /// The size of the key, 7 to 16 octets.
    public var keySize: Int
    /// True if both sides keep the keys, so that the next link is encrypted without pairing.
    public var bonded: Bool
    public init(level: Word<SecurityLevel>, keySize: Int, bonded: Bool) {
      self.level = level
      self.keySize = keySize
      self.bonded = bonded
    }
  }
}

/// Registers a session to answer when a device pairs.
public enum PairingRegister: ClientCall {
  public typealias Result = Empty
  public static let method = MethodDescription(
    "pairing.register", needs: .pair,
    """
    Makes this session one that is asked when a device pairs, until it ends or calls pairing.unregister: with \
    pairing.confirm and pairing.enterPasskey. It is asked for pairings that concern its user: those that programs of \
    this user begin, and those of devices that use their connections or services. With the permission "agent" it is \
    asked for all, after the users concerned.
    """)

  public struct Params: RPCPayload {
    /// The input and output of this program: "display" (shows a passkey), "displayYesNo" (has numbers compared, too),
    /// "keyboard" (has a passkey typed), "keyboardDisplay" (all of these) or "none".
    public var capability: PairingCapability
    public init(capability: PairingCapability) { self.capability = capability }
  }
}

/// The opposite of `pairing.register`.
public enum PairingUnregister: ClientCall {
  /// There are no parameters.
  public typealias Params = Empty
  public typealias Result = Empty
  public static let method = MethodDescription(
    "pairing.unregister", needs: .pair,
    "This session is no longer asked when a device pairs.")
}

/// Lets devices pair for a while.
public enum PairingOpen: ClientCall {
  public typealias Result = Empty
  public static let method = MethodDescription(
    "pairing.open", needs: .pair,
    """
    For some seconds every device that uses services or connections of this user may pair without a check (Just \
    Works), unless a session that has called pairing.register is asked. With the permission "agent" that holds for all \
    devices. 0 ends it at once.
    """)

  public struct Params: RPCPayload {
    /// The time for which devices may pair, in seconds, 0 to 3600.
    public var seconds: Double
    public init(seconds: Double) { self.seconds = seconds }
  }
}

/// A device and the keys shared with it.
public struct BondDescription: RPCPayload, Hashable {
  /// The daemon's identifier of the device; missing if it is no longer known.
  public var peripheral: String?
  /// Its identity address.
  public var address: String
  /// "public" or "random".
  public var addressType: Word<DeviceAddress.Kind>
  /// Its name, if known.
  public var name: String?
  /// The address of the adapter that shares the keys.
  public var adapterAddress: String
  /// "encrypted", "authenticated" or "secureConnections": the level of a link with these keys.
  public var level: Word<SecurityLevel>
  /// The size of the key, 7 to 16 octets.
  public var keySize: Int
  public init(
    peripheral: String?, address: String, addressType: Word<DeviceAddress.Kind>, name: String?, adapterAddress: String,
    level: Word<SecurityLevel>,
    keySize: Int
  ) {
    self.peripheral = peripheral
    self.address = address
    self.addressType = addressType
    self.name = name
    self.adapterAddress = adapterAddress
    self.level = level
    self.keySize = keySize
  }
}

/// Lists the devices that keys are shared with.
public enum PairingList: ClientCall {
  /// There are no parameters.
  public typealias Params = Empty
  public static let method = MethodDescription(
    "pairing.list", needs: .bonds,
    "Lists the devices that this machine has paired with, the last one first. Shows no keys.")
  public struct Result: RPCPayload {
    /// The devices.
    public var bonds: [BondDescription]
    public init(bonds: [BondDescription]) { self.bonds = bonds }
  }
}

/// Forgets the keys shared with a device.
public enum PairingForget: ClientCall {
  public typealias Result = Empty
  public static let method = MethodDescription(
    "pairing.forget", needs: .pair,
    """
    Removes the keys that this machine shares with a device, here and in the kernel, and ends its link. The device keeps \
    its own: forget this machine there, too. Without the permission "sessions" it fails with notPermitted if other \
    users have used the device, or it uses their services.
    """)

  /// The parameters: `peripheral` or `address`.
  public struct Params: RPCPayload {
    /// The daemon's identifier of the device.
    public var peripheral: String?
    /// Its identity address.
    public var address: String?
    public init(peripheral: String? = nil, address: String? = nil) {
      self.peripheral = peripheral
      self.address = address
    }
  }
}
