import Adapter
import BledRPC
import Bluetooth
import Logging

@testable import BledCore
@testable import SimulatedAdapter

/// A daemon, two adapters, an air full of devices, and two hundred clients, under virtual time and from one seed.
///
/// Everything random is drawn from generators of the seed, and every alarm comes from one clock: the same seed gives
/// the same walk, which `trace` shows.
final class Simulation {
  /// The number of clients.
  static let clients = 200
  /// The interval of complete comparisons.
  static let inspection = Duration.seconds(300)

  let seed: UInt64
  let scheduler = VirtualScheduler()
  let daemon: Daemon
  let adapters: [SimulatedAdapter]
  var clients: [RandomClient] = []
  /// True from when everybody is sent home.
  private(set) var isOver = false
  /// The faults found, with their times.
  private(set) var troubles: [String] = []
  private(set) var counters: [String: Int] = [:]
  /// A number computed from all lines sent to clients and their times.
  private(set) var trace: UInt64 = 0xCBF2_9CE4_8422_2325
  /// The longest answer times in seconds, by the request and its receiver.
  private(set) var longest: [String: Double] = [:]
  var inspector = Inspector()
  private var generator: SeededGenerator
  private var buried: [(time: Instant, session: WeakSession)] = []

  private struct WeakSession {
    weak var session: Session?
    weak var connection: SessionConnection?
    var known: Session? { session ?? connection?.session }
  }

  init(seed: UInt64) throws {
    self.seed = seed
    generator = SeededGenerator(seed: seed, stream: 1)
    let logger = Logger(label: "simulation") { _ in SwiftLogNoOpLogHandler() }
    let policy = Policy(.init(), accounts: Accounts(users: [:], groups: ["bluetooth": 100]), ownUser: 0)
    daemon = Daemon(identity: .init(name: "simulation"), policy: policy, scheduler: scheduler, logger: logger)
    let air = Air(scheduler: scheduler, seed: seed)
    adapters = [
      SimulatedAdapter(
        id: "a0", scenario: try Population.scenario(&generator), scheduler: scheduler, seed: seed, logger: logger,
        air: air),
      SimulatedAdapter(
        id: "a1", scenario: try Population.bystander(), scheduler: scheduler, seed: seed, logger: logger, air: air),
    ]
    for adapter in adapters { daemon.add(adapter) }
    clients = (0..<Self.clients).map { RandomClient($0, Self.manner($0), in: self) }
  }

  private static func manner(_ number: Int) -> RandomClient.Manner {
    switch number {
    case ..<10: .canary
    case ..<20: .flooder
    case ..<35: .sleeper
    case ..<45: .rude
    case ..<60: .mayfly
    default: .ordinary
    }
  }

  // MARK: The walk

  /// Advances virtual time by this much, while all parties act.
  func walk(_ duration: Duration) {
    for client in clients {
      client.begin(after: .seconds(client.manner == .canary ? 1 : generator.number(in: 1...1800)))
    }
    for adapter in adapters { vanishSooner(adapter) }
    let end = scheduler.now.advanced(by: duration)
    while scheduler.now < end, troubles.isEmpty {
      scheduler.advance(by: Self.inspection)
      inspect()
    }
  }

  /// All clients leave. Anything that remains would remain for ever.
  func sendEverybodyHome() {
    isOver = true
    for client in clients { client.leave() }
    // Links end, ATT gives up after 30 s, phones go after two minutes.
    scheduler.advance(by: .seconds(600))
    inspectWhatRemains()
  }

  private func vanishSooner(_ adapter: SimulatedAdapter) {
    scheduler.schedule(after: .seconds(generator.number(in: 600...14_400))) { [self] in
      guard !isOver else { return }
      count("adapters lost")
      let away = Duration.seconds(generator.number(in: 0.01...120))
      switch generator.next() % 3 {
      case 0: adapter.vanish()
      case 1: adapter.setPower(false) { _ in }
      default: adapter.fail(AdapterProblem(kind: .hardware, message: "it does not answer", remedy: "wait"))
      }
      scheduler.schedule(after: away) { [self] in
        adapter.comeBack()
        adapter.setPower(true) { _ in }
        vanishSooner(adapter)
      }
    }
  }

  // MARK: Accounts

  func count(_ what: String) { counters[what, default: 0] += 1 }

  /// Notes that something is wrong.
  func trouble(_ what: String) {
    troubles.append("at \(Int(Instant.zero.duration(to: scheduler.now).inSeconds)) s: \(what)")
  }

  /// Records an ended session: soon no reference to it may remain.
  func bury(_ connection: SessionConnection) {
    buried.append((scheduler.now, WeakSession(session: connection.session, connection: connection)))
  }

  /// The sessions still in memory although they ended before a time.
  func undead(since time: Instant) -> [Session] {
    buried.removeAll { $0.session.known == nil }
    return buried.filter { $0.time < time }.compactMap(\.session.known)
  }

  /// Adds a line sent to a client to the trace.
  func note(_ client: Int, _ kind: RPCMessage.Kind) {
    let what: UInt64 =
      switch kind {
      case .success(.number(let id)): UInt64(id) << 2
      case .failure(.number(let id)?, let error):
        UInt64(id) << 2 | UInt64(bitPattern: Int64(error.data?.code ?? 1)) << 32 | 1
      case .notification(let name): UInt64(name.utf8.count) << 2 | 2
      default: 3
      }
    for number in [UInt64(bitPattern: scheduler.now.nanoseconds), UInt64(client), what] {
      trace = (trace ^ number) &* 0x100_0000_01B3
    }
  }

  /// Records the time of an answer.
  func answered(_ request: Ledger.Request, by client: RandomClient) {
    guard client.manner == .canary || client.manner == .ordinary, case .procedure(let peripheral) = request.concern,
      let device = client.devices[peripheral]
    else { return }
    let key = "\(request.method) \(device.isPolite ? "well behaved" : "misbehaving")"
    longest[key] = max(longest[key] ?? 0, request.time.duration(to: scheduler.now).inSeconds)
  }
}
