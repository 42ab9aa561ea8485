import BledRPC
import Bluetooth
import Testing

@testable import CoreBluetooth

/// The advertisement of a peripheral manager, without a daemon.
@Suite struct AdvertisingMachineTests {
  private let params = AdvertisingStart.Params(name: "Lamp")

  /// The actions in words.
  private func words(_ actions: [AdvertisingMachine.Action]) -> [String] {
    actions.map { action in
      switch action {
      case .start(let params, let attempt): "start \(params.name ?? "?") \(attempt)"
      case .stop(let number): "stop \(number.map { "\($0)" } ?? "all")"
      case .started(let error): "started \(error?.message ?? "well")"
      case .refuse: "refuse"
      }
    }
  }

  private let error = GAPError.adapterOff.error("off")

  @Test("A second call waits for the outcome of the first: refused if that is on the air, else tried")
  func secondCall() {
    var machine = AdvertisingMachine()
    #expect(words(machine.start(params)) == ["start Lamp 1"])
    #expect(words(machine.start(.init(name: "Belt"))) == [])
    var other = machine
    #expect(words(machine.decided(1, .success(7))) == ["started well", "refuse"])
    #expect(words(machine.start(params)) == ["refuse"])
    #expect(words(other.decided(1, .failure(error))) == ["started off", "start Belt 2"])
    #expect(words(other.decided(2, .success(8))) == ["started well"])
  }

  @Test("An attempt that was given up is stopped when it succeeds, and does not disturb the next")
  func late() {
    var machine = AdvertisingMachine()
    _ = machine.start(params)
    _ = machine.start(params)
    #expect(words(machine.stop()) == ["refuse"])
    #expect(words(machine.start(params)) == ["start Lamp 2"])
    #expect(words(machine.decided(1, .success(7))) == ["stop 7"])
    #expect(words(machine.decided(1, .failure(error))) == [])
    #expect(words(machine.decided(2, .success(8))) == ["started well"])
    #expect(words(machine.stop()) == ["stop 8"] && words(machine.stop()) == [])
  }

  @Test("It ends with Bluetooth, waiting calls unanswered, and when the daemon ends it")
  func ends() {
    var machine = AdvertisingMachine()
    #expect(words(machine.end()) == [])
    _ = machine.start(params)
    _ = machine.start(params)
    #expect(words(machine.end()) == ["stop all"])
    #expect(words(machine.decided(1, .success(7))) == ["stop 7"])
    machine.restore(9)
    #expect(!machine.ended(8) && machine.ended(9) && !machine.ended(9))
    #expect(words(machine.start(params)) == ["start Lamp 2"])
  }
}
