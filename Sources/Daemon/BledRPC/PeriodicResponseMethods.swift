import Bluetooth

/// Responds to a packet of a train.
public enum PeriodicRespond: ClientCall {
  public typealias Result = Empty
  public static let method = MethodDescription(
    "periodic.respond", needs: .advertise,
    """
    Sends a response to a packet of a train with subevents that this session follows, once, in a slot of the next \
    subevent of that number, and answers when the controller has it. Whether the advertiser receives it is not told, and \
    its program must have left the slot to this device. Fails with packetTooLate (domain hci) if the slot has passed, \
    with packetTooLong if the data is longer than a slot, with unknownHandle if the train is not followed at present, \
    and with notSupported if the controller cannot respond. A session may have one in progress for each train \
    (alreadyInProgress), and a user 16 in all (limitReached).
    """)

  public struct Params: RPCPayload, Hashable {
    /// The daemon's identifier of the device that sends the train.
    public var peripheral: String
    /// The number of the advertising set, 0 to 15; if missing, the only followed one of that device.
    public var sid: Int?
    /// The adapter; if missing, the only one that follows the train.
    public var adapter: String?
    /// The `event` of the packet, 0 to 65535.
    public var event: Int
    /// The `subevent` of the packet, 0 to 127.
    public var subevent: Int
    /// The subevent of the response, 0 to 127; that of the packet if missing.
    public var responseSubevent: Int?
    /// The slot of the response, 0 to 254.
    public var slot: Int
    /// The data, 0 to 247 octets.
    public var data: HexBytes
    public init(
      peripheral: String, sid: Int? = nil, adapter: String? = nil, event: Int, subevent: Int,
      responseSubevent: Int? = nil, slot: Int, data: HexBytes
    ) {
      self.peripheral = peripheral
      self.sid = sid
      self.adapter = adapter
      self.event = event
      self.subevent = subevent
      self.responseSubevent = responseSubevent
      self.slot = slot
      self.data = data
    }
  }
}
