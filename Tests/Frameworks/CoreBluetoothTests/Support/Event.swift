import CoreBluetooth
import TestSupport

/// A call of a delegate.
struct Event: @unchecked Sendable, CustomStringConvertible {
  /// Which one: "didConnect", "didUpdateValueFor characteristic", …
  var name: String
  var state = CBManagerState.unknown
  var peripheral: CBPeripheral?
  var central: CBCentral?
  var service: CBService?
  var services: [CBService] = []
  var characteristic: CBCharacteristic?
  var descriptor: CBDescriptor?
  var value: Data?
  var data: [String: Any] = [:]
  var rssi: NSNumber?
  var requests: [CBATTRequest] = []
  var channel: CBL2CAPChannel?
  var psm: CBL2CAPPSM = 0
  var isReconnecting: Bool?
  var connectionEvent: CBConnectionEvent?
  var error: (any Error)?
  /// True if it was called on the manager's queue.
  var isOnQueue = false

  var description: String { error.map { "\(name) (\($0))" } ?? name }
}

/// Collects the calls of a delegate in order, and lets a test wait for one.
final class EventLog: @unchecked Sendable {
  struct TimedOut: Error, CustomStringConvertible {
    var description: String
  }

  let queue: DispatchQueue
  private static let key = DispatchSpecificKey<Int>()
  private let lock = NSLock()
  private var events: [Event] = []
  private var waiters: [(matches: (Event) -> Bool, resume: (Event?) -> Void, number: Int)] = []
  private var lastWaiter = 0
  private var depth = 0
  /// True if a call occurred during another one.
  private(set) var wasReentered = false

  /// - Parameter queue: Where the delegate is called.
  init(queue: DispatchQueue = DispatchQueue(label: "test.delegate")) {
    self.queue = queue
    queue.setSpecific(key: Self.key, value: 1)
  }

  /// All events so far that no test has waited for.
  var pending: [Event] { lock.withLock { events } }

  func add(_ event: Event) {
    var event = event
    event.isOnQueue = DispatchQueue.getSpecific(key: Self.key) == 1
    let resume: ((Event?) -> Void)? = lock.withLock {
      guard let index = waiters.firstIndex(where: { $0.matches(event) }) else {
        events.append(event)
        return nil
      }
      return waiters.remove(at: index).resume
    }
    resume?(event)
  }

  /// Calls a delegate's method and records whether another was being called.
  func inside(_ body: () -> Void) {
    lock.withLock {
      if depth > 0 { wasReentered = true }
      depth += 1
    }
    body()
    lock.withLock { depth -= 1 }
  }

  /// The first event of this name that matches, among past and future ones; it is removed, the others stay.
  @discardableResult
  func next(
    _ name: String, where condition: @escaping (Event) -> Bool = { _ in true }
  ) async throws -> Event {
    let matches = { (event: Event) in event.name == name && condition(event) }
    let found: Event? = await withCheckedContinuation { continuation in
      let (event, number): (Event?, Int) = lock.withLock {
        if let index = events.firstIndex(where: matches) { return (events.remove(at: index), 0) }
        lastWaiter += 1
        waiters.append((matches, { continuation.resume(returning: $0) }, lastWaiter))
        return (nil, lastWaiter)
      }
      guard event == nil else { return continuation.resume(returning: event) }
      DispatchQueue.global().asyncAfter(deadline: .now() + .seconds(Patience.seconds)) {
        let resume: ((Event?) -> Void)? = self.lock.withLock {
          self.waiters.firstIndex { $0.number == number }.map { self.waiters.remove(at: $0).resume }
        }
        resume?(nil)
      }
    }
    guard let found else { throw TimedOut(description: "no \(name); there were: \(pending)") }
    return found
  }

  /// Waits until everything that was enqueued before has run.
  func settle() async {
    await withCheckedContinuation { continuation in queue.async { continuation.resume() } }
  }

  /// Forgets all recorded calls, or only those of this name.
  func clear(_ name: String? = nil) { lock.withLock { events.removeAll { name == nil || $0.name == name } } }
}
