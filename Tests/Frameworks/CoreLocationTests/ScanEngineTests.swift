import BledRPC
import Bluetooth
import CoreBluetooth
import DaemonTestSupport
import Foundation
import Testing

/// The scan of a module beside CoreBluetooth.
@Suite(.timeLimit(.minutes(5))) struct ScanEngineTests {
  @Test("the answer to a scan that was replaced meanwhile is not told")
  func replaced() async throws {
    let daemon = try await Daemon(adapters: 1)
    let engine = ScanEngine(socket: daemon.socket)
    defer { engine.close() }
    let (decisions, add) = AsyncStream.makeStream(of: BluetoothError?.self)
    engine.onEvent = { [weak engine] event in
      switch event {
      case .changed(.poweredOn):
        // The daemon refuses a filter with this number of alternatives.
        let alternatives = Array(repeating: ScanStart.Filter(name: "none"), count: 17)
        engine?.scan(.init(filters: alternatives))
        engine?.scan(.init())
      case .decided(let error): add.yield(error)
      default: break
      }
    }
    engine.start()
    var iterator = decisions.makeAsyncIterator()
    let first = await iterator.next()
    #expect(first == .some(.none))
  }
}
