import Adapter
import BledCore
import BlueZ
import Bluetooth
import Fuzzing
import Logging
import Scenarios
import SimulatedAdapter

/// Swift keeps the one pointer to what a weakly referenced object needs besides itself in a form in which the leak
/// sanitizer does not find it, and the daemon lives on.
@_cdecl("__lsan_is_turned_off")
public func leaksAreNotLookedFor() -> Int32 { 1 }

/// Messages of a bus, handled by org.bluez on a whole daemon: each call is answered once, in the end.
@main
enum BusMessages {
  /// Longer than anything may wait for an answer: an attempt to connect, and then the discovery of services.
  private static let longest = Duration.seconds(90)
  /// The number of messages of one input.
  private static let maximum = 64
  /// The seconds that pass between all messages of one input. Each report in them takes its time.
  private static let maximumSeconds = 60

  static func main() {
    fuzz { octets in
      var input = FuzzInput(octets)
      run(&input)
    }
  }

  private static let scenario = """
    { "devices": [
      { "name": "Belt", "address": "C0:DE:00:00:00:01", "addressType": "random", "interval": 10, "services": [
        { "uuid": "180F", "characteristics": [{ "uuid": "2A19", "properties": ["read", "notify"], "value": "55" }] },
        { "uuid": "FFF0", "characteristics": [
          { "uuid": "FFF1", "properties": ["read", "write", "writeWithoutResponse", "indicate"] } ] } ] },
      { "name": "Lock", "address": "C0:DE:00:00:00:09", "addressType": "random", "interval": 10,
        "pairing": { "capability": "display", "passkey": 42 }, "services": [
        { "uuid": "FFF0", "characteristics": [
          { "uuid": "FFF1", "properties": ["read"], "text": "sesame", "security": "authenticated" } ] } ] } ] }
    """

  /// One daemon for all inputs, each of which has a facade of its own.
  private struct World {
    let scheduler = VirtualScheduler()
    let daemon: Daemon

    init() {
      let logger = Logger(label: "bus") { _ in SwiftLogNoOpLogHandler() }
      var nobody = Configuration.Policy()
      nobody.grants = [:]
      daemon = Daemon(
        identity: .init(name: "fuzz"), policy: Policy(nobody, accounts: .system, ownUser: 0), scheduler: scheduler,
        logger: logger)
      guard let scenario = try? Scenario(json: BusMessages.scenario) else {
        invariant(false, "the scenario is not valid")
        return
      }
      daemon.add(
        SimulatedAdapter(
          id: "hci0", scenario: scenario, scheduler: scheduler, seed: 1, logger: logger,
          air: Air(scheduler: scheduler, seed: 1)))
      scheduler.advance(by: .seconds(1))
    }
  }

  private nonisolated(unsafe) static let world = World()

  private static func run(_ input: inout FuzzInput) {
    let bus = PlayedBus(world.scheduler, isPermitted: input.octet() & 3 != 0)
    let facade = Facade(
      bus: bus, clock: world.scheduler, connector: DaemonLinks(world.daemon, world.scheduler), sockets: NoSockets(),
      machine: "0", host: "linux", settings: [:])
    facade.start()
    world.scheduler.advance(by: .seconds(1))
    var seconds = maximumSeconds
    for _ in 0..<maximum where !input.isEmpty { act(&input, bus, facade, &seconds) }
    world.scheduler.advance(by: longest)
    // The programs leave; nothing of theirs goes on.
    for name in PlayedBus.programs {
      bus.leave(name)
      facade.left(name)
    }
    world.scheduler.advance(by: .seconds(1))
    invariant(bus.isSettled, "calls are not answered: \(bus.open)")
    facade.close()
    world.scheduler.advance(by: .seconds(1))
  }

  private static func act(_ input: inout FuzzInput, _ bus: PlayedBus, _ facade: Facade, _ seconds: inout Int) {
    let program = PlayedBus.programs[input.number(below: PlayedBus.programs.count)]
    switch input.octet() & 15 {
    case 0...8: facade.handle(bus.call(Generator.call(&input), of: program))
    case 9, 10: bus.answer(&input)
    case 11:
      if bus.watched.contains(program) { facade.handle(Generator.signal(&input, of: program)) }
    case 12:
      bus.leave(program)
      facade.left(program)
    case 13:
      let passing = min(Int(input.octet() & 31), seconds)
      seconds -= passing
      world.scheduler.advance(by: .seconds(passing))
    default: world.scheduler.advance(by: .milliseconds(20))
    }
  }
}
