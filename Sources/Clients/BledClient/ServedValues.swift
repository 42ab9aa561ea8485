import BledRPC
import Bluetooth

/// Values of published characteristics, on their way to subscribers.
struct ServedValues {
  let client: BledClient

  /// Calls a method until there is room.
  func send<Method: ClientCall>(
    _ method: Method.Type, _ params: Method.Params
  ) async throws(BluetoothError) -> ServerNotify.Result where Method.Result == ServerNotify.Result {
    // Observed from before the first attempt, so that room that becomes available in between is not missed.
    var room = client.notifications(ServerReady.self, buffering: .newest(1)).makeAsyncIterator()
    while true {
      let result = try await client.call(method, params)
      if result.sent { return result }
      _ = try await next(&room, of: Method.name)
    }
  }

  /// Sends a value as soon as there is room, and collects its confirmations.
  func indicate(
    _ params: ServerNotify.Params
  ) async throws(BluetoothError) -> (result: ServerNotify.Result, confirmations: [ServerConfirmed.Params]) {
    let number = client.core.nextConfirmation()
    var params = params
    params.confirmation = number
    // Observed from before the call: a confirmation may precede its answer.
    var arriving = client.notifications(ServerConfirmed.self) { $0.confirmation == number }.makeAsyncIterator()
    let result = try await send(ServerNotify.self, params)
    var confirmations: [ServerConfirmed.Params] = []
    while confirmations.count < result.indicated?.count ?? 0 {
      confirmations.append(try await next(&arriving, of: ServerNotify.name))
    }
    return (result, confirmations)
  }

  /// The next notification for a waiting call.
  private func next<Params>(
    _ stream: inout AsyncThrowingStream<Params, any Error>.AsyncIterator, of method: String
  ) async throws(BluetoothError) -> Params {
    do {
      if let params = try await stream.next() { return params }
    } catch let error as BluetoothError {
      throw error
    } catch {
      throw BledError.daemonUnreachable.error("\(error)")
    }
    throw Task.isCancelled
      ? GAPError.cancelled.error("\(method) was cancelled")
      : BledError.daemonUnreachable.error("the connection to bled was closed")
  }
}
