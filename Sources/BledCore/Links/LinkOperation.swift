import Bluetooth
import GATT

/// Something that a session asked of a device: one GATT procedure or several in a row.
final class LinkOperation {
  /// What follows a procedure: the next one, or nil at the end. It is called once more, with a failure, if the operation is
  /// abandoned, and that is the end as well.
  typealias Step = (Result<GATTResult, BluetoothError>) -> GATTProcedure?

  /// The session that asked; nil for the daemon itself.
  let session: Session?
  /// Whether it goes on when the program of the session is gone and the session is kept.
  let outlastsProgram: Bool
  /// The procedure that is next; nil before the first one, if what that is shows when the operation's turn comes.
  private(set) var procedure: GATTProcedure?
  private var step: Step?

  /// - Parameter procedure: the first procedure; nil: `step` is called, with `done`, when it is this operation's turn.
  init(
    session: Session?, _ procedure: GATTProcedure?, outlastsProgram: Bool = false, _ step: @escaping Step
  ) {
    self.session = session
    self.outlastsProgram = outlastsProgram
    self.procedure = procedure
    self.step = step
  }

  /// Takes over the outcome of the procedure.
  /// - Returns: whether there is another one.
  func proceed(_ result: Result<GATTResult, BluetoothError>) -> Bool {
    guard let next = step?(result) else {
      step = nil
      return false
    }
    procedure = next
    return step != nil
  }

  /// Ends it with this error. What the device still answers is ignored.
  func abandon(_ error: BluetoothError) {
    let current = step
    step = nil
    _ = current?(.failure(error))
  }
}
