import Adapter
import Bluetooth
import TestSupport
import Testing

@testable import Controllers

@Suite struct SecurityRequestsTests {
  /// The outcomes of requests for levels 2 and 3 on a link that has level 2.
  private func outcomes(_ error: BluetoothError?, countsReached: Bool) -> [String] {
    let scheduler = VirtualScheduler()
    let context = AdapterContext(name: "hci0", scheduler: scheduler, logger: LogLines().logger)
    var requests = SecurityRequests()
    var outcomes: [String] = []
    for level in 2...3 { requests.wait(for: level) { outcomes.append($0?.name ?? "success") } }
    requests.settle(at: 2, error, countsReached: countsReached, in: context)
    #expect(requests.isEmpty && outcomes.isEmpty)
    scheduler.settle()
    return outcomes
  }

  @Test("Without an error the level counts; beside an error only where it is to count")
  func levels() {
    let error = GAPError.timeout.error("too late")
    #expect(outcomes(nil, countsReached: false) == ["success", "pairingFailed"])
    #expect(outcomes(error, countsReached: true) == ["success", "timeout"])
    #expect(outcomes(error, countsReached: false) == ["timeout", "timeout"])
  }
}
