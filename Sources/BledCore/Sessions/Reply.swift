import BledRPC
import Bluetooth

/// The answer that a client waits for. It is given once; whatever comes later is ignored, as is the answer to a session
/// that has ended.
final class Reply<Result: Encodable>: OpenReply {
  private weak var session: Session?
  private let id: RequestID?
  private let number: Int
  private var isOpen = true

  init(session: Session, id: RequestID?) {
    self.session = session
    self.id = id
    number = session.nextReplyNumber()
    session.openReplies[number] = self
  }

  /// Answers with a result.
  func succeed(_ result: Result) {
    guard let session = close() else { return }
    if let id { session.answer(id, result) }
  }

  /// Answers with an error in the field's own terms.
  func fail(_ error: BluetoothError) { fail(RPCError(error)) }

  /// Answers with an error.
  func fail(_ error: RPCError) {
    guard let session = close() else { return }
    if let id { session.refuse(id, error) }
  }

  /// Answers with one or the other.
  func complete(_ result: Swift.Result<Result, BluetoothError>) {
    switch result {
    case .success(let value): succeed(value)
    case .failure(let error): fail(error)
    }
  }

  private func close() -> Session? {
    guard isOpen, let session else { return nil }
    isOpen = false
    session.openReplies[number] = nil
    return session
  }
}

/// A reply of whatever type that has not been given.
protocol OpenReply: AnyObject {
  func fail(_ error: BluetoothError)
}
