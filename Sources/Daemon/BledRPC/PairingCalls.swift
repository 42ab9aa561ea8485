import Bluetooth

/// The daemon asks this session whether to pair.
public enum PairingConfirm: DaemonCall {
  public static let message = MessageDescription(
    "pairing.confirm",
    """
    From the daemon, to a session that has called pairing.register: whether to pair with this device. With "number", \
    whether the device shows the same number. Without an answer within the time the pairing is refused.
    """)
  /// The parameters from the daemon.
  public struct Params: RPCPayload, Hashable {
    /// The device that pairs.
    public var device: PairingDevice
    /// The number that the device shows, six digits; missing if there is none to compare.
    public var number: String?
    /// The time to answer, in seconds, 0 or more.
    public var seconds: Int
    public init(device: PairingDevice, number: String?, seconds: Int) {
      self.device = device
      self.number = number
      self.seconds = seconds
    }
  }
  /// The answer of the session.
  public struct Result: RPCPayload, Hashable {
    /// True to pair.
    public var accept: Bool
    public init(accept: Bool) { self.accept = accept }
  }
}

/// The daemon asks this session for a passkey.
public enum PairingEnterPasskey: DaemonCall {
  public static let message = MessageDescription(
    "pairing.enterPasskey",
    """
    From the daemon, to a session that has called pairing.register: the passkey that the device shows. Without an \
    answer within the time the pairing is refused.
    """)
  /// The parameters from the daemon.
  public struct Params: RPCPayload, Hashable {
    /// The device that pairs.
    public var device: PairingDevice
    /// The time to answer, in seconds, 0 or more.
    public var seconds: Int
    public init(device: PairingDevice, seconds: Int) {
      self.device = device
      self.seconds = seconds
    }
  }
  /// The answer of the session.
  public struct Result: RPCPayload, Hashable {
    /// The passkey, up to six digits; missing to refuse.
    public var passkey: String?
    public init(passkey: String?) { self.passkey = passkey }
  }
}

/// A device that pairs.
public struct PairingDevice: Codable, Sendable, Hashable {
  /// The daemon's identifier of the device.
  public var peripheral: String
  /// Its address.
  public var address: String
  /// Its name, if known.
  public var name: String?
  /// True if this machine began the pairing.
  public var isOurs: Bool
  /// The level of the keys that this machine and the device share already, "encrypted", "authenticated" or
  /// "secureConnections": pairing replaces them, and the asking device may be another one. Missing if there are none.
  public var bondLevel: Word<SecurityLevel>?
  public init(peripheral: String, address: String, name: String?, isOurs: Bool, bondLevel: Word<SecurityLevel>? = nil) {
    self.peripheral = peripheral
    self.address = address
    self.name = name
    self.isOurs = isOurs
    self.bondLevel = bondLevel
  }
}

/// A passkey is to be typed at the device.
public enum PairingShowPasskey: RPCNotification {
  public static let message = MessageDescription(
    "pairing.showPasskey",
    """
    To a session that has called pairing.register: show this passkey to whoever types it at the device. It is repeated \
    with each digit that the device tells of.
    """)
  public struct Params: RPCPayload, Hashable {
    /// The device that pairs.
    public var device: PairingDevice
    /// Six digits.
    public var passkey: String
    /// The number of digits typed so far, 0 to 6.
    public var entered: Int
    public init(device: PairingDevice, passkey: String, entered: Int) {
      self.device = device
      self.passkey = passkey
      self.entered = entered
    }
  }
}

/// A pairing has ended.
public enum PairingEnded: RPCNotification {
  public static let message = MessageDescription(
    "pairing.ended",
    """
    To a session that has called pairing.register: a device has paired, or could not. What was asked or shown for it is \
    of no interest any more.
    """)
  public struct Params: RPCPayload {
    /// The device.
    public var device: PairingDevice
    /// The reason why it did not pair; missing if it did.
    public var reason: RPCError?
    public init(device: PairingDevice, reason: RPCError?) {
      self.device = device
      self.reason = reason
    }
  }
}

/// Keys were lost.
public enum PairingKeysLost: RPCNotification {
  public static let message = MessageDescription(
    "pairing.keysLost",
    """
    To sessions that have called pairing.register or use the device: the link cannot be encrypted because one side has \
    lost the keys of the other. It is not paired anew by itself: it may be another device with the same address.
    """)
  public struct Params: RPCPayload, Hashable {
    /// The device.
    public var device: PairingDevice
    /// The side that has no keys: "device" or "machine".
    public var side: Word<Side>
    /// The remedy, in words.
    public var remedy: String
    /// The sides of a link.
    public enum Side: String, Vocabulary {
      /// The device.
      case device
      /// This machine.
      case machine
    }

    public init(device: PairingDevice, side: Word<Side>, remedy: String) {
      self.device = device
      self.side = side
      self.remedy = remedy
    }
  }
}

/// Keys are kept.
public enum PairingBonded: RPCNotification {
  public static let message = MessageDescription(
    "pairing.bonded",
    """
    To every session with the permission "bonds": this machine keeps keys, or others than before, that it shares with the \
    device on this adapter. It has paired, or its keys were imported.
    """)
  /// The device and the adapter.
  public typealias Params = PairingForgotten.Params
}

/// Keys are gone.
public enum PairingForgotten: RPCNotification {
  public static let message = MessageDescription(
    "pairing.forgotten",
    """
    To every session with the permission "bonds": this machine shares no keys with the device any more on this adapter. A \
    program has forgotten them, or they had to give way to others, or were refused.
    """)
  public struct Params: RPCPayload, Hashable {
    /// The daemon's identifier of the device; missing if it is no longer known.
    public var peripheral: String?
    /// Its identity address.
    public var address: String
    /// "public" or "random".
    public var addressType: Word<DeviceAddress.Kind>
    /// The address of the adapter that shared the keys.
    public var adapterAddress: String
    public init(
      peripheral: String?, address: String, addressType: Word<DeviceAddress.Kind>, adapterAddress: String
    ) {
      self.peripheral = peripheral
      self.address = address
      self.addressType = addressType
      self.adapterAddress = adapterAddress
    }
  }
}
