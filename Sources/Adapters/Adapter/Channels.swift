import Bluetooth

/// A connection-oriented channel on a link, in one of the credit-based flow control modes.
///
/// Packets (SDUs) arrive in order and whole. Credits follow the reader: a side that does not read stops the sender.
public protocol Channel: AnyObject {
  /// The listener's number, whichever side it is on: its SPSM (Core 5.4, Vol 3, Part A, 4.22), 1 to 255.
  var psm: UInt16 { get }
  /// How it was set up.
  var mode: ChannelMode { get }
  /// The longest packet we receive, 23 to 65535 octets.
  var receiveMTU: Int { get }
  /// The longest packet the device receives, 23 to 65535 octets.
  var sendMTU: Int { get }
  /// The longest pieces of packets; nil if unknown to the adapter.
  var pieces: ChannelPieces? { get }
  /// The channel's event handler. No event comes from inside a call.
  var onEvent: ((ChannelEvent) -> Void)? { get set }
  /// True to read the device's packets; initially false. While false none is delivered, and the device soon has no
  /// credits left.
  var isReading: Bool { get set }
  /// False while the device has given no credits; `.writable` follows when there is room again.
  var isWritable: Bool { get }
  /// Sends a packet of 1 to `sendMTU` octets. Only while `isWritable`: a packet sent all the same may be refused, which
  /// ends the channel. After its end it does nothing.
  func send(_ packet: [UInt8])
  /// Ends the channel when the sent packets have left, after ten seconds at the latest. No event follows.
  func close()
}

/// The longest pieces (MPS) of a channel's packets, each carried in its own frame (Core 5.4, Vol 3, Part A, 3.4.3,
/// 4.22): 23 to 65533 octets, 64 or more on an enhanced channel.
public struct ChannelPieces: Hashable, Sendable {
  /// The longest piece we receive.
  public var receive: Int
  /// The longest piece the device receives.
  public var send: Int
  /// Makes a pair.
  public init(receive: Int, send: Int) {
    self.receive = receive
    self.send = send
  }
}

/// A channel's events.
public enum ChannelEvent {
  /// A packet was received.
  case received([UInt8])
  /// There is room again after `isWritable` was false.
  case writable
  /// The channel has ended, after the device's earlier packets were delivered; nothing follows. The error is the reason
  /// for the link's end, or `GAPError.disconnected` if the device closed the channel.
  case ended(BluetoothError)
}

/// The requirements for a channel, and for the channels to a listener.
public struct ChannelParameters: Hashable, Sendable {
  /// The SPSMs available to programs (Core 5.4, Vol 3, Part A, 4.22).
  public static let dynamic: ClosedRange<UInt16> = 0x80...0xFF
  /// The packet sizes accepted in any mode (Core 5.4, Vol 3, Part A, 4.22).
  public static let lengths = ChannelMode.leCreditBased.lengths

  /// The longest packet we receive, 23 to 65535 octets.
  public var receiveMTU: Int
  /// The only permitted mode of a listener's channels, or the mode of a channel we open; nil for a listener that
  /// accepts the adapter's modes, and for a channel in LE credit-based flow control mode.
  public var mode: ChannelMode?
  /// The link's protection required to open a channel to a listener: 1 none, 2 encrypted, 3 authenticated, 4
  /// authenticated with LE Secure Connections.
  public var level: Int

  /// Makes parameters.
  public init(receiveMTU: Int = 8192, level: Int = 1, mode: ChannelMode? = nil) {
    self.receiveMTU = receiveMTU
    self.mode = mode
    self.level = level
  }
}
