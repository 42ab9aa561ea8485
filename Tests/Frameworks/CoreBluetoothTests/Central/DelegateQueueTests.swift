import CoreBluetooth
import Testing

extension WithDaemon {
  @Suite struct DelegateQueueTests {
    /// Calls the manager from within each call of the delegate.
    private final class Eager: NSObject, CBCentralManagerDelegate, @unchecked Sendable {
      let log = EventLog(queue: DispatchQueue(label: "test.concurrent", attributes: .concurrent))
      private(set) lazy var manager = CBCentralManager(delegate: self, queue: log.queue)
      private var belt: CBPeripheral?
      private var connections = 0

      func centralManagerDidUpdateState(_ central: CBCentralManager) {
        log.inside { central.scanForPeripherals(withServices: [CBUUID(string: "180D")]) }
      }

      func centralManager(
        _ central: CBCentralManager, didDiscover peripheral: CBPeripheral, advertisementData: [String: Any],
        rssi: NSNumber
      ) {
        log.inside {
          belt = peripheral
          central.stopScan()
          central.connect(peripheral)
        }
      }

      func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
        log.inside {
          connections += 1
          let number = connections
          // Each is answered at once: the answers arrive one after the other, and not before this call has returned.
          if number == 1 { for _ in 0..<20 { central.connect(peripheral) } }
          if number <= 21 { log.add(Event(name: "didConnect", rssi: NSNumber(value: number))) }
        }
      }
    }

    @Test("R1: one call after the other on a concurrent queue, and none from within a call")
    func concurrentQueue() async throws {
      let daemon = try await BledProcess()
      let eager = Eager()
      _ = eager.manager
      for number in 1...21 {
        let event = try await eager.log.next("didConnect")
        #expect(event.rssi == NSNumber(value: number))
        #expect(event.isOnQueue)
      }
      #expect(!eager.log.wasReentered)
      withExtendedLifetime(daemon) {}
    }
  }
}
