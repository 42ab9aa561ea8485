@preconcurrency import CoreBluetooth

/// An actor that runs on the manager's queue.
actor Scanner {
  private let queue = DispatchSerialQueue(label: "scanner")
  private let delegate = Delegate()
  private var manager: CBCentralManager?
  nonisolated var unownedExecutor: UnownedSerialExecutor { queue.asUnownedSerialExecutor() }

  func state() async -> CBManagerState {
    dispatchPrecondition(condition: .onQueue(queue))
    let states = AsyncStream.makeStream(of: CBManagerState.self)
    delegate.updated = { [weak self] state in
      self?.assumeIsolated { $0.count += 1 }
      states.continuation.yield(state)
    }
    manager = CBCentralManager(delegate: delegate, queue: queue)
    for await state in states.stream where state != .unknown { return state }
    return .unknown
  }

  var count = 0
}

final class Delegate: NSObject, CBCentralManagerDelegate, @unchecked Sendable {
  var updated: (CBManagerState) -> Void = { _ in }

  func centralManagerDidUpdateState(_ central: CBCentralManager) { updated(central.state) }
}

/// A counter that is locked as Objective-C does.
final class Counter: @unchecked Sendable {
  private(set) var value = 0

  func add() {
    objc_sync_enter(self)
    defer { objc_sync_exit(self) }
    objc_sync_enter(self)
    value += 1
    objc_sync_exit(self)
  }
}

let counter = Counter()
DispatchQueue.concurrentPerform(iterations: 1000) { _ in counter.add() }
guard counter.value == 1000, objc_sync_exit(counter) == -1 else { fatalError("\(counter.value)") }

struct Failure: Error {}
do {
  try autoreleasepool { throw Failure() }
} catch is Failure {
  print(autoreleasepool { URLRequest(url: URL(fileURLWithPath: "/")).httpMethod ?? "" })
}
print(await Scanner().state().rawValue)
