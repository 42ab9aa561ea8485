import BledRPC
import Bluetooth
import Logging

/// The sessions whose writes without response were refused: the log has each of them once. Programs seldom look at the
/// answer, as the device gives none.
struct RefusedWriters {
  private var sessions: Set<Session> = []
  private let logger: Logger

  init(logger: Logger) { self.logger = logger }

  /// A session's write without response was refused.
  /// - Parameter peripheral: the device, if it is known.
  mutating func refused(
    _ params: GATTWrite.Params, of session: Session, to peripheral: Peripheral?, _ error: any Error
  ) {
    guard sessions.insert(session).inserted else { return }
    let reason = (error as? BluetoothError)?.message ?? "\(error)"
    logger.warning(
      """
      a write without response of session \(session.id) \(session.name) to \(params.attribute.words) of \
      \(params.peripheral.prefix(64)) was refused, and so may be others: \(reason)
      """, metadata: .about(peripheral, session: session))
  }

  /// A session has ended.
  mutating func ended(_ session: Session) { sessions.remove(session) }
}
