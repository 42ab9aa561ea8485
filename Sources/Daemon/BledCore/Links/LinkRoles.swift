import ATT
import Adapter
import BledRPC
import Bluetooth
import Capture
import GATT

/// The owners of a link's roles. Each link requests its roles from them when it is established.
struct LinkRoles {
  unowned let client: any ClientRoles
  unowned let server: any ServerRoles
  unowned let channels: any LinkChannels
  unowned let protection: any LinkProtection
}

/// Makes the client roles of links.
protocol ClientRoles: AnyObject {
  func clientRole(on hub: LinkHub) -> any ClientRole
}

/// Makes the server roles of links.
protocol ServerRoles: AnyObject {
  func serverRole(on hub: LinkHub) -> any ServerRole
  /// Sessions without room on a link may send again.
  func roomAgain(for sessions: [Session])
}

/// Our client role on one link: sessions use the device's services.
protocol ClientRole: AnyObject {
  /// The sessions using the device over this link.
  var users: [Session] { get }
  /// The sessions waiting for the link.
  var waiters: [Session] { get }
  /// The sessions subscribed to the device.
  var subscribers: Set<Session> { get }
  /// The known attributes of the device, for recordings.
  var attributeNotes: [AttributeNote] { get }
  /// The connection parameters requested by sessions, also for later links to the device.
  var wishes: [CheckedWish] { get }
  /// Replaces a connected session's wish; nil: none.
  /// - Returns: true if the session is connected to it or waits for it.
  func setWish(_ wish: CheckedWish?, of session: Session) -> Bool
  /// The link is up.
  func began()
  /// A procedure has ended.
  func finished(_ id: ProcedureID, _ result: Result<GATTResult, GATTError>)
  /// The device sent a value.
  func received(_ value: [UInt8], of handle: UInt16)
  /// The device sent a response to no request; it changed nothing.
  func ignored(_ answer: ATTOpcode)
  /// Packets from the device were dropped on this machine.
  func packetsDropped(_ count: Int)
  /// The device may have proven its bond's keys before `securityChanged`: its next packet counts.
  func mayBeProven()
  /// The link's protection changed.
  func securityChanged()
  /// The device was bonded on the link, and the adapter knows the bond.
  func bondMade()
  /// Procedures may be started on another bearer, too.
  func bearerOpened(_ bearer: BearerID, mtu: Int)
  /// A bearer has ended; the procedures on it fail next.
  func bearerEnded(_ bearer: BearerID)
  /// True if the session's Write Commands wait for more than room.
  func delaysCommands(of session: Session) -> Bool
  /// Sends a session's Write Command, after a check for room.
  func sendCommand(of session: Session)
  /// The link takes packets again.
  func roomAgain()
  /// The link has ended, for this reason; its pairing is still known.
  func linkEnds(_ reason: BluetoothError)
  /// Everything pending fails.
  /// - Parameters:
  ///   - error: the error of pending calls.
  ///   - reason: the reason for the link's end.
  func linkEnded(_ error: BluetoothError, _ reason: BluetoothError)
}

/// Our server role on one link: the device uses services of sessions.
protocol ServerRole: AnyObject {
  /// The sessions serving the device.
  var served: Set<Session> { get }
  /// The session whose attribute was last refused to the device for lack of security.
  var refused: Session? { get }
  /// The connection parameters requested by sessions that do not use the device themselves.
  var wishes: [Session: CheckedWish] { get set }
  /// The link is up.
  func began()
  func asked(_ read: ReadQuestion)
  func asked(_ write: WriteQuestion)
  /// The device no longer waits for an answer.
  func questionCancelled(_ token: QuestionToken)
  func subscriptionChanged(_ handle: UInt16, _ configuration: ClientConfiguration)
  /// An indication was confirmed, or has failed.
  func indicationFinished(_ id: IndicationID, _ result: Result<Void, GATTError>)
  /// The device is sent a packet.
  func sends(_ packet: [UInt8])
  /// Packets from the device were dropped on this machine.
  func packetsDropped(_ count: Int)
  /// True if an acquired characteristic's value can be sent.
  func canSendValue(of handle: UInt16) -> Bool
  /// Sends an acquired characteristic's value, after a check for room.
  func sendValue(of handle: UInt16)
  /// True if the first queued value of `server.notify` of a session can be sent.
  func canSendQueued(of session: Session) -> Bool
  /// Sends a session's first queued value, after a check for room.
  func sendQueued(of session: Session)
  func linkEnded(_ error: BluetoothError)
}

extension ServerRole {
  /// The users serving the device.
  var servedUsers: [UInt32?] { served.sorted { $0.id < $1.id }.map(\.user) }
}

/// The L2CAP channels of sessions on a link.
protocol LinkChannels: AnyObject {
  /// A device opened a channel.
  func opened(_ channel: any Channel, on hub: LinkHub)
  /// A session has disconnected from a device, while others may still use the link.
  func released(_ hub: LinkHub, by session: Session)
}

/// Decides how far a link's protection can be trusted, and raises it.
protocol LinkProtection: AnyObject {
  /// The settings of bonded devices at our server, and the counters of signed writes.
  var clients: BondedClients { get }
  /// A link's protection as far as it can be trusted.
  func security(of hub: LinkHub) -> SecurityState
  /// The bond with a link's device.
  func bond(of hub: LinkHub) -> Bond?
  /// The bond whose keys encrypt the link, which proves that the device has them.
  func provenBond(of hub: LinkHub) -> Bond?
  /// Raises the protection after the device refused a request for lack of it.
  /// - Parameters:
  ///   - session: the session that asked; nil for the daemon itself.
  ///   - done: called once, possibly from inside the call, with whether the request is worth repeating.
  func raise(_ hub: LinkHub, after error: ATTErrorCode, for session: Session?, _ done: @escaping (Bool) -> Void)
  /// Encrypts a link with its bond's keys; as peripheral, requests that from the device.
  /// - Parameters:
  ///   - level: the level by these keys, 2 to 4.
  ///   - done: called once, possibly from inside the call, with why the link does not have it.
  func encrypt(_ hub: LinkHub, to level: Int, _ done: @escaping (BluetoothError?) -> Void)
  /// A link's device no longer has its bond's keys: notifies the programs concerned, once per link.
  func keysLost(_ hub: LinkHub)
  func linkEnded(_ hub: LinkHub)
}
