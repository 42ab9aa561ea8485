import ATT
import Adapter
import BledRPC
import Bluetooth
import GATT

/// The parts above a link that share it. Each link asks them for its own roles when it comes up.
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
  /// The sessions that use the device over this link.
  var users: [Session] { get }
  /// The sessions that wait for the link.
  var waiters: [Session] { get }
  /// The sessions that get values of the device.
  var subscribers: Set<Session> { get }
  /// The connection parameters that sessions want, also of later links to the device.
  var wishes: [CheckedWish] { get }
  /// Replaces the wish of a session that is connected to the device; nil: none.
  /// - Returns: whether the session is connected to it or waits for it.
  func setWish(_ wish: CheckedWish?, of session: Session) -> Bool
  /// The link is up.
  func began()
  /// A procedure has ended.
  func finished(_ id: ProcedureID, _ result: Result<GATTResult, GATTError>)
  /// The device sent a value.
  func received(_ value: [UInt8], of handle: UInt16)
  /// The device sent an answer that nothing awaits, which changed nothing.
  func ignored(_ answer: ATTOpcode)
  /// Packets from the device were dropped on this machine.
  func packetsDropped(_ count: Int)
  /// The device may have shown that it has the keys of its bond, before `securityChanged`: its next packet counts.
  func mayBeProven()
  /// The protection of the link changed.
  func securityChanged()
  /// The device was bonded on the link, and the adapter knows the bond.
  func bondMade()
  /// Procedures may be started on another bearer, too.
  func bearerOpened(_ bearer: BearerID, mtu: Int)
  /// A bearer has ended; the procedures on it fail next.
  func bearerEnded(_ bearer: BearerID)
  /// Whether the Write Commands of a session wait for more than room.
  func delaysCommands(of session: Session) -> Bool
  /// Sends a Write Command of a session, for which there is room.
  func sendCommand(of session: Session)
  /// The link takes packets again.
  func roomAgain()
  /// The link has ended, for this reason; its pairing is still known.
  func linkEnds(_ reason: BluetoothError)
  /// Everything that is pending fails.
  /// - Parameters:
  ///   - error: the error of pending calls.
  ///   - reason: the reason for which the link ended.
  func linkEnded(_ error: BluetoothError, _ reason: BluetoothError)
}

/// Our server role on one link: the device uses services of sessions.
protocol ServerRole: AnyObject {
  /// The sessions that serve the device.
  var served: Set<Session> { get }
  /// The session with the attribute that was last refused to the device for lack of security.
  var refused: Session? { get }
  /// The connection parameters that sessions want which do not use the device themselves.
  var wishes: [Session: CheckedWish] { get set }
  /// The link is up.
  func began()
  func asked(_ read: ReadQuestion)
  func asked(_ write: WriteQuestion)
  /// The device no longer waits for an answer.
  func questionCancelled(_ token: QuestionToken)
  func subscriptionChanged(_ handle: UInt16, _ configuration: ClientConfiguration)
  /// An indication was confirmed, or has failed.
  func indicationFinished(_ id: IndicationID)
  /// The device is sent a packet.
  func sends(_ packet: [UInt8])
  /// Packets from the device were dropped on this machine.
  func packetsDropped(_ count: Int)
  /// Whether a value of an acquired characteristic can be sent.
  func canSendValue(of handle: UInt16) -> Bool
  /// Sends a value of an acquired characteristic, for which there is room.
  func sendValue(of handle: UInt16)
  func linkEnded(_ error: BluetoothError)
}

extension ServerRole {
  /// The users that serve the device.
  var servedUsers: [UInt32?] { served.sorted { $0.id < $1.id }.map(\.user) }
}

/// The L2CAP channels of sessions on a link.
protocol LinkChannels: AnyObject {
  /// A device opened a channel.
  func opened(_ channel: any Channel, on hub: LinkHub)
  /// A session has disconnected from a device, while others may still use the link.
  func released(_ hub: LinkHub, by session: Session)
}

/// Decides how far the protection of a link can be trusted, and raises it.
protocol LinkProtection: AnyObject {
  /// The settings of bonded devices at our server, and the counters of signed writes.
  var clients: BondedClients { get }
  /// The protection of a link as far as it can be trusted.
  func security(of hub: LinkHub) -> SecurityState
  /// The bond with the device of a link.
  func bond(of hub: LinkHub) -> Bond?
  /// The bond of a link that is encrypted with its keys, which the device has thereby shown to have.
  func provenBond(of hub: LinkHub) -> Bond?
  /// Raises the protection after the device refused a request for lack of it.
  /// - Parameters:
  ///   - session: the session that asked; nil for the daemon itself.
  ///   - done: called once, possibly from inside the call, with whether the request is worth repeating.
  func raise(_ hub: LinkHub, after error: ATTErrorCode, for session: Session?, _ done: @escaping (Bool) -> Void)
  /// Encrypts a link with the keys of its bond; as peripheral, has the device do it.
  /// - Parameters:
  ///   - level: the level that they give it, 2 to 4.
  ///   - done: called once, possibly from inside the call, with why the link does not have it.
  func encrypt(_ hub: LinkHub, to level: Int, _ done: @escaping (BluetoothError?) -> Void)
  /// The device of a link has no longer the keys of its bond: the programs concerned are told, once for a link.
  func keysLost(_ hub: LinkHub)
  func linkEnded(_ hub: LinkHub)
}
