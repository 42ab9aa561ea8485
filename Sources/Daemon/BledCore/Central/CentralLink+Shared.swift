import BledRPC
import Bluetooth

/// The link's shared state that the other role and the link itself request.
extension CentralLink {
  var subscribers: Set<Session> { receivers.subscribers }

  var wishes: [CheckedWish] { connection?.wishes ?? [] }

  func setWish(_ wish: CheckedWish?, of session: Session) -> Bool {
    guard let connection, connection.concerns(session) else { return false }
    connection.wished[session] = wish
    return true
  }

  func packetsDropped(_ count: Int) { receivers.packetsDropped(count) }
}
