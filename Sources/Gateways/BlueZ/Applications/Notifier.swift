import BledRPC

/// The values that programs notify: bled receives them in order, and they wait while there is no room.
final class Notifier {
  private struct Value {
    let octets: [UInt8]
    let handle: UInt16
    /// True if its confirmations are reported.
    let isConfirmed: Bool
  }

  private struct Queue {
    var values: [Value] = []
    var isSending = false
    var isCrowded = false
  }

  /// Maximum queued values of a program; beyond it the oldest is dropped, as bluetoothd's kernel buffer would.
  private static let maximum = 1024
  /// The number of queued values of a program at which receiving stops, and at which it resumes.
  private static let (many, few) = (64, 8)

  private let context: Context
  private var queues: [String: Queue] = [:]

  /// Called when many values of a program wait, and when few do again.
  var crowded: (BusClient, Bool) -> Void = { _, _ in }

  init(_ context: Context) { self.context = context }

  /// - Parameter isConfirmed: true if bled reports the confirmation of each device that receives an indication.
  func send(_ octets: [UInt8], _ handle: UInt16, _ client: BusClient, isConfirmed: Bool) {
    var queue = queues[client.name] ?? Queue()
    // The first one is on its way.
    if queue.values.count >= Self.maximum { queue.values.remove(at: queue.isSending ? 1 : 0) }
    queue.values.append(Value(octets: octets, handle: handle, isConfirmed: isConfirmed))
    queues[client.name] = queue
    reportLoss(client)
    next(client)
  }

  private func reportLoss(_ client: BusClient) {
    guard let queue = queues[client.name] else { return }
    let isCrowded = queue.values.count >= (queue.isCrowded ? Self.few : Self.many)
    guard isCrowded != queue.isCrowded else { return }
    queues[client.name]?.isCrowded = isCrowded
    crowded(client, isCrowded)
  }

  /// There is room again.
  func ready(_ client: BusClient) {
    queues[client.name]?.isSending = false
    next(client)
  }

  func forget(_ client: BusClient) {
    if queues.removeValue(forKey: client.name)?.isCrowded == true { crowded(client, false) }
  }

  private func next(_ client: BusClient) {
    guard var queue = queues[client.name], !queue.isSending, !queue.values.isEmpty else { return }
    let value = queue.values[0]
    queue.isSending = true
    queues[client.name] = queue
    client.session.call(
      ServerNotify.self,
      // The number says nothing: a confirmation names its characteristic.
      ServerNotify.Params(
        handle: value.handle, value: HexBytes(value.octets), confirmation: value.isConfirmed ? 0 : nil)
    ) { [weak self] result in
      guard let self, queues[client.name] != nil else { return }
      // Without room it is tried again at `server.ready`.
      if case .success(let answer) = result, !answer.sent { return }
      queues[client.name]?.values.removeFirst()
      queues[client.name]?.isSending = false
      reportLoss(client)
      next(client)
    }
  }
}
