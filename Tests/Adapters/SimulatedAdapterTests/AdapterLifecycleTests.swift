import Adapter
import Bluetooth
import GATT
import Testing

@testable import SimulatedAdapter

/// The adapter's states, and the return of wanted activities.
@Suite(.onBothAirs) struct AdapterLifecycleTests {
  private let set = AdvertisingSetID(7)
  private let advertisement = AdvertisingParameters(data: [2, 1, 6])

  /// A world that scans, advertises, has a link to the belt and wants one to a device that is not there.
  private func busy() throws -> AdapterStage {
    let world = try AdapterStage.on("{ devices: [{ name: 'a', address: 'C0:DE:00:00:00:01', addressType: 'random' }] }")
    world.adapter.setScan(ScanParameters())
    world.adapter.setAdvertising(set, advertisement)
    _ = try #require(world.connect(1))
    world.adapter.connect(to: AdapterStage.address(9), ConnectionParameters())
    world.scheduler.advance(by: .seconds(1))
    world.forget()
    return world
  }

  private let ending = ["scanning false", "advertising 7 off"]
  private let coming = ["state starting", "state on", "scanning true", "advertising 7 on 0.1 seconds"]

  @Test(.onSimulatedAir("several sets are of extended advertising")) func itIsStartingForAMomentAndThenOn() throws {
    let world = try AdapterStage(
      "{ adapter: { startDelay: 0.5, address: 'C0:DE:00:00:00:99', addressType: 'random', advertisingSets: 2 } }")
    #expect(world.adapter.state == .absent)
    world.adapter.start()
    #expect(world.trace.isEmpty)
    world.scheduler.advance(by: .milliseconds(400))
    #expect(world.trace == ["state starting"])
    world.scheduler.advance(by: .milliseconds(200))
    #expect(world.trace == ["state starting", "state on"])
    #expect(world.adapter.information.address == AdapterStage.address(0x99))
    #expect(world.adapter.information.maximumAdvertisingSets == 2)
    #expect(!world.adapter.information.hasExtendedAdvertising)
  }

  @Test func adaptersOfDifferentNamesHaveDifferentAddresses() throws {
    let addresses = try ["one", "two"].map { id in
      let world = try AdapterStage("{}", id: id)
      world.adapter.start()
      world.scheduler.advance(by: .seconds(1))
      return world.adapter.information.address
    }
    #expect(addresses[0] != addresses[1])
    #expect(!addresses.contains(.none))
  }

  @Test(.onSimulatedAir("the order and the words are the host's"))
  func powerOffEndsEverythingAndPowerOnBringsTheWantedBack() throws {
    let world = try busy()
    var answers: [BluetoothError?] = []
    world.adapter.setPower(false) { answers.append($0) }
    #expect(answers.isEmpty && world.trace.isEmpty)
    world.scheduler.advance(by: .seconds(1))
    #expect(answers == [nil])
    #expect(world.trace == ["ended C0:DE:00:00:00:01 adapterOff"] + ending + ["state off"])
    world.forget()
    world.scheduler.advance(by: .seconds(60))
    #expect(world.trace.isEmpty && world.reports.isEmpty)
    world.adapter.setPower(true) { answers.append($0) }
    world.scheduler.advance(by: .seconds(10))
    #expect(answers == [nil, nil])
    #expect(world.trace == coming)
    #expect(!world.reports.isEmpty)
  }

  @Test(.onSimulatedAir("the order and the words are the host's")) func anAdapterThatVanishesComesBackAsItWas() throws {
    let world = try busy()
    world.staged.vanish()
    world.scheduler.advance(by: .seconds(1))
    #expect(world.trace == ["ended C0:DE:00:00:00:01 adapterAbsent"] + ending + ["state absent"])
    var answers: [BluetoothError?] = []
    world.adapter.setPower(true) { answers.append($0) }
    world.scheduler.advance(by: .seconds(1))
    #expect(answers.first??.name == "adapterAbsent")
    world.forget()
    world.staged.comeBack()
    world.scheduler.advance(by: .seconds(1))
    #expect(world.trace == coming)
    // The pending connection is still there, and the other device noticed that its link was lost.
    #expect((world.adapter as? SimulatedAdapter)?.initiator.isListening != false)
    #expect(world.connect(1) != nil)
  }

  @Test(.onSimulatedAir("the order and the words are the host's")) func anAdapterThatFailsSaysWhyAndIsMended() throws {
    let world = try busy()
    let problem = AdapterProblem(kind: .inUse, message: "another program holds it", remedy: "stop that")
    try #require(world.adapter as? SimulatedAdapter).fail(problem)
    world.scheduler.advance(by: .seconds(1))
    #expect(world.adapter.state == .failed(problem))
    var answer: BluetoothError?
    world.adapter.setPower(false) { answer = $0 }
    world.scheduler.advance(by: .seconds(1))
    #expect(answer?.message == "another program holds it; stop that")
    world.staged.comeBack()
    world.scheduler.advance(by: .seconds(1))
    #expect(world.adapter.state == .off)
  }

  @Test func theScenarioSwitchesAndPulls() throws {
    let world = try AdapterStage.on(
      """
      { events: [
        { at: 1, action: "powerOff" }, { at: 2, action: "powerOn" }, { at: 3, action: "vanish" }, { at: 4, action: "comeBack" } ] }
      """)
    world.scheduler.advance(by: .seconds(5))
    let on = ["state starting", "state on"]
    let expected: [String] = [on, ["state off"], on, ["state absent"], on].flatMap(\.self)
    #expect(world.trace == expected)
  }

  @Test(.onSimulatedAir("a host answers at once")) func powerSwitchedBackWhileStartingIsAnsweredOnceEach() throws {
    let world = try AdapterStage("{ adapter: { startDelay: 1 } }")
    world.adapter.start()
    world.scheduler.advance(by: .milliseconds(10))
    var answers: [String] = []
    world.adapter.setPower(true) { answers.append($0?.name ?? "on") }
    world.scheduler.advance(by: .milliseconds(10))
    world.adapter.setPower(false) { answers.append($0?.name ?? "off") }
    world.scheduler.advance(by: .seconds(5))
    #expect(answers == ["cancelled", "off"])
    #expect(world.trace == ["state starting", "state off"])
  }

  @Test(.onSimulatedAir("the order and the words are the host's")) func stoppingEndsEverythingAndCallsBackOnce() throws
  {
    let world = try busy()
    var stops = 0
    world.adapter.stop { stops += 1 }
    #expect(stops == 0)
    world.scheduler.advance(by: .seconds(1))
    #expect(stops == 1)
    #expect(world.trace == ["ended C0:DE:00:00:00:01 adapterOff"] + ending + ["state absent"])
    world.forget()
    world.scheduler.advance(by: .seconds(100))
    #expect(world.trace.isEmpty && world.reports.isEmpty)
    #expect(stops == 1)
  }

  @Test(.onSimulatedAir("the order and the words are the host's")) func whatIsWantedBeforeTheStartComesWithIt() throws {
    let world = try AdapterStage("{}")
    world.adapter.setScan(ScanParameters())
    world.adapter.setAdvertising(set, advertisement)
    world.scheduler.advance(by: .seconds(1))
    #expect(world.trace.isEmpty)
    world.adapter.start()
    world.scheduler.advance(by: .seconds(1))
    #expect(world.trace == coming)
  }
}
