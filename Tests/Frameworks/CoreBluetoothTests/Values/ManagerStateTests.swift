import BledRPC
import Bluetooth
import Testing

@testable import CoreBluetooth

/// The states that result from the adapters' states, including those that the simulated adapter does not have.
struct ManagerStateTests {
  private typealias Adapter = (state: Word<AdapterCondition>, problem: Word<AdapterProblemKind>?)

  private func check(_ cases: [(adapters: [Adapter], state: CBManagerState)]) {
    for (adapters, expected) in cases {
      let state = CBManagerState(
        of: adapters.map { adapter in
          AdapterDescription(
            adapter: "hci0", kind: "kernel", address: nil, addressType: nil, name: "", state: adapter.state,
            problem: adapter.problem.map { .init(kind: $0, message: "", remedy: "") }, scanning: false, advertising: 0,
            links: 0)
        })
      #expect(state == expected, "\(adapters)")
    }
  }

  @Test("G1: on, starting, off, blocked, not permitted and absent are distinguished") func one() {
    check([
      ([("on", nil)], .poweredOn), ([("starting", nil)], .resetting), ([("off", nil)], .poweredOff),
      ([("failed", "blocked")], .poweredOff), ([("failed", "permission")], .unauthorized),
      ([("failed", "other")], .unsupported), ([("absent", nil)], .unsupported), ([], .unsupported),
    ])
  }

  @Test("of several adapters the best state counts") func several() {
    check([
      ([("off", nil), ("on", nil), ("absent", nil)], .poweredOn),
      ([("failed", "permission"), ("off", nil)], .poweredOff),
      ([("off", nil), ("starting", nil)], .resetting),
      ([("absent", nil), ("failed", "permission")], .unauthorized),
    ])
  }
}
