import BledRPC
import Bluetooth

/// The answer that a client waits for. It is given once; whatever comes later is ignored, as is the answer on a connection
/// that has ended.
final class Reply<Result: Encodable>: OpenReply {
  private weak var connection: SessionConnection?
  private let id: RequestID?
  private let number: Int
  private var isOpen = true

  init(connection: SessionConnection, id: RequestID?) {
    self.connection = connection
    self.id = id
    number = connection.nextReplyNumber()
    connection.openReplies[number] = self
  }

  /// Answers with a result.
  func succeed(_ result: Result) {
    guard let connection = close() else { return }
    if let id { connection.answer(id, result) }
  }

  /// Answers with an error in the field's own terms.
  func fail(_ error: BluetoothError) { fail(RPCError(error)) }

  /// Answers with an error.
  func fail(_ error: RPCError) {
    guard let connection = close() else { return }
    if let id { connection.refuse(id, error) }
  }

  /// Answers with one or the other.
  func complete(_ result: Swift.Result<Result, BluetoothError>) {
    switch result {
    case .success(let value): succeed(value)
    case .failure(let error): fail(error)
    }
  }

  private func close() -> SessionConnection? {
    guard isOpen, let connection else { return nil }
    isOpen = false
    connection.openReplies[number] = nil
    return connection
  }
}

/// A reply of whatever type that has not been given.
protocol OpenReply: AnyObject {
  func fail(_ error: BluetoothError)
}
