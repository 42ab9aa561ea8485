import Bluetooth

/// The parameters that a session wants of a link (Core 5.4, Vol 6, Part B, 4.5.1 and 4.5.2).
public struct LinkWish: Codable, Sendable, Hashable {
  /// The shortest time between two connection events, in seconds, 0.000375 to 4; 0.015 if missing, or `maximumInterval`
  /// where that is less. Below 0.0075 both sides need shorter connection intervals (Bluetooth 6.2).
  public var minimumInterval: Double?
  /// The longest time between two connection events, in seconds, 0.000375 to 4; 0.045 if missing, or `minimumInterval`
  /// where that is more.
  public var maximumInterval: Double?
  /// The number of connection events that the peripheral may skip, 0 to 499; 0 if missing. Times maximumSubrate, (1 +
  /// latency) is at most 500.
  public var latency: Int?
  /// The time without a packet after which the link is lost, in seconds, 0.1 to 32, and more than (1 + latency) ×
  /// maximumSubrate × maximumInterval × 2; if missing, 4 or as much as that rule needs.
  public var timeout: Double?
  /// The minimum subrate factor (connection subrating): one of this number of connection events is used, 1 to 500;
  /// `maximumSubrate` if missing.
  public var minimumSubrate: Int?
  /// The maximum subrate factor, 1 to 500; `minimumSubrate` if missing. Without both each event is used, as every link
  /// can; a factor above 1 requires connection subrating on both sides.
  public var maximumSubrate: Int?
  /// The number of further connection events used after one with data, 0 to 499, less than `maximumSubrate`; 0 if
  /// missing.
  public var continuation: Int?
  /// Makes a request.
  public init(
    minimumInterval: Double? = nil, maximumInterval: Double? = nil, latency: Int? = nil, timeout: Double? = nil,
    minimumSubrate: Int? = nil, maximumSubrate: Int? = nil, continuation: Int? = nil
  ) {
    self.minimumInterval = minimumInterval
    self.maximumInterval = maximumInterval
    self.latency = latency
    self.timeout = timeout
    self.minimumSubrate = minimumSubrate
    self.maximumSubrate = maximumSubrate
    self.continuation = continuation
  }
}

/// The parameters in force on a link.
public struct LinkDescription: RPCPayload, Hashable {
  /// The daemon's identifier of the device.
  public var peripheral: String
  /// This machine's role: "central" if it connected to the device, "peripheral" if the device connected to it.
  public var role: Word<LinkRole>
  /// The time between two connection events, in seconds, 0.000375 to 4; missing if the controller did not report it, as
  /// `latency` and `timeout`.
  public var interval: Double?
  /// The number of connection events that the peripheral may skip, 0 to 499.
  public var latency: Int?
  /// The time without a packet after which the link is lost, in seconds, 0.1 to 32.
  public var timeout: Double?
  /// The subrate factor (connection subrating): one of this number of connection events is used, 2 to 500, and
  /// `latency` counts the used ones. Missing if each is used.
  public var subrate: Int?
  /// The number of further connection events used after one with data, 0 to 499; missing as `subrate`.
  public var continuation: Int?
  /// The ATT MTU, 23 to 517 octets.
  public var mtu: Int
  /// The number of simultaneous requests that the device accepts (enhanced ATT bearers), 2 to 3; missing if it is one.
  public var bearers: Int?
  /// The PHY of this machine's packets: "1M", "2M" or "coded"; missing if the controller did not report it.
  public var txPHY: Word<PHY>?
  /// The PHY of the device's packets: "1M", "2M" or "coded"; missing likewise.
  public var rxPHY: Word<PHY>?
  /// The longest payload of a packet on the air that this machine sends, 27 to 251 octets; missing if the controller
  /// did not report it.
  public var txOctets: Int?
  /// The longest payload of a packet on the air that the device sends, 27 to 251 octets; missing likewise.
  public var rxOctets: Int?
  /// The protection of the link: "encrypted", "authenticated" (the keys were agreed on with protection against a person
  /// in the middle) or "secureConnections" (also with LE Secure Connections); missing without encryption.
  public var security: Word<SecurityLevel>?
  /// The size of the encryption key, 7 to 16 octets; missing without encryption.
  public var keySize: Int?

  /// Makes a description with the members that are always present.
  public init(peripheral: String, role: Word<LinkRole>, mtu: Int) {
    self.peripheral = peripheral
    self.role = role
    self.mtu = mtu
  }
}

/// Returns the parameters of a link.
public enum PeripheralParameters: ClientCall {
  /// The device.
  public typealias Params = PeripheralReference
  /// The parameters in force.
  public typealias Result = LinkDescription
  public static let method = MethodDescription(
    "peripheral.parameters", needs: .connect,
    """
    Tells what is in force on the link with a device, whichever program or device connected: interval, latency, \
    supervision timeout, subrating, MTU, PHYs, the lengths of packets, and how it is protected. On a new link the \
    answer comes when the daemon's procedures for another PHY and longer packets have ended.
    """)
}

/// Requests other parameters of a link.
public enum PeripheralSetParameters: ClientCall {
  /// The parameters in force after the call.
  public typealias Result = LinkDescription
  public static let method = MethodDescription(
    "peripheral.setParameters", needs: .connect, changesSession: true,
    """
    Replaces what this session wants of the parameters of a link, and answers with what is in force when the controllers \
    have settled it. The wishes of all sessions are merged: the quickest interval, the lowest subrate factor with the \
    highest continuation number, the lowest latency, the longest timeout. A session's wish ends when it lets the device \
    go. For a device that connected to this machine the session must serve it; then the device's controller has to \
    agree. The error notSupported says which side lacks connection subrating, or shorter connection intervals for an \
    interval below 7.5 ms; the rest is in force then, with the shortest interval that there is.
    """)

  public struct Params: RPCPayload, Hashable {
    /// The daemon's identifier of the device.
    public var peripheral: String
    /// The parameters that this session requests; if missing, its request is withdrawn.
    public var parameters: LinkWish?
    public init(peripheral: String, parameters: LinkWish? = nil) {
      self.peripheral = peripheral
      self.parameters = parameters
    }
  }
}

/// Requests another PHY of a link.
public enum PeripheralSetPHY: ClientCall {
  /// The parameters in force after the call.
  public typealias Result = LinkDescription
  public static let method = MethodDescription(
    "peripheral.setPHY", needs: .connect,
    """
    Asks for a PHY in both directions of a link, and answers with what is in force when the controllers have settled \
    it: "1M", "2M" (twice as fast), "coded" (longer range), or "codedS2" and "codedS8" for the coded PHY with a \
    preference for 500 or 125 kb/s. The error notSupported says which side lacks it. The last call counts, of whatever \
    session, and for later links, too, while a session uses the device or waits for it.
    """)

  public struct Params: RPCPayload, Hashable {
    /// The daemon's identifier of the device.
    public var peripheral: String
    /// "1M", "2M", "coded", "codedS2" or "codedS8".
    public var phy: PHYChoice
    public init(peripheral: String, phy: PHYChoice) {
      self.peripheral = peripheral
      self.phy = phy
    }
  }
}

/// The parameters of a link changed.
public enum PeripheralParametersChanged: RPCNotification {
  /// The parameters in force after the change.
  public typealias Params = LinkDescription
  public static let message = MessageDescription(
    "peripheral.parametersChanged",
    """
    The parameters, the MTU, a PHY, a packet length or the protection of a link changed. Sent to the sessions that use the device, and \
    to those whose services it uses.
    """)
}
