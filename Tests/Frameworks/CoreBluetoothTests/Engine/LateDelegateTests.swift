import CoreBluetooth
import Testing

extension WithDaemon {
  /// Delegates that are set after the manager was made.
  @Suite struct LateDelegateTests {
    private final class Delegate: NSObject, CBCentralManagerDelegate, CBPeripheralManagerDelegate, @unchecked Sendable {
      let log: EventLog
      init(_ log: EventLog) { self.log = log }

      func centralManagerDidUpdateState(_ central: CBCentralManager) { told(central) }
      func peripheralManagerDidUpdateState(_ peripheral: CBPeripheralManager) { told(peripheral) }

      private func told(_ manager: CBManager) {
        var event = Event(name: "didUpdateState")
        event.state = manager.state
        log.inside { log.add(event) }
      }
    }

    @Test("R2: a delegate that is set after the first state is told of it, once", arguments: [true, false])
    func afterTheFirstState(isCentral: Bool) async throws {
      let daemon = try await BledProcess()
      let log = EventLog()
      let (first, second) = (Delegate(log), Delegate(EventLog()))
      let central = isCentral ? CBCentralManager(delegate: nil, queue: log.queue) : nil
      let peripheral = isCentral ? nil : CBPeripheralManager(delegate: nil, queue: log.queue)
      let manager: CBManager = try #require(central ?? peripheral)
      try await until { manager.state == .poweredOn }
      log.queue.sync {
        central?.delegate = first
        peripheral?.delegate = first
        // Not from within the call.
        #expect(log.pending.isEmpty)
      }
      let told = try await log.next("didUpdateState")
      #expect(told.state == .poweredOn && told.isOnQueue)
      // Another delegate takes over: the state is not reported again.
      central?.delegate = second
      peripheral?.delegate = second
      await log.settle()
      #expect(log.pending.isEmpty && second.log.pending.isEmpty)
      withExtendedLifetime(daemon) {}
    }

    @Test("R2: a delegate that is set before the first state is told of it once")
    func beforeTheFirstState() async throws {
      let daemon = try await BledProcess()
      let log = EventLog()
      let delegate = Delegate(log)
      let manager = CBCentralManager(delegate: nil, queue: log.queue)
      manager.delegate = delegate
      #expect(try await log.next("didUpdateState").state == .poweredOn)
      manager.delegate = delegate
      await log.settle()
      #expect(log.pending.isEmpty)
      withExtendedLifetime((daemon, manager)) {}
    }
  }
}
