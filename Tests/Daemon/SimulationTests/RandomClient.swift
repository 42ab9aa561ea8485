import Adapter
import BledRPC
import Bluetooth
import FoundationEssentials

@testable import BledCore
@testable import SimulatedAdapter

/// A program that connects, acts at random, and disconnects or dies. It keeps account of its resources.
final class RandomClient: SessionTransport {
  /// How a client behaves.
  enum Manner {
    /// Stays for ever with one well behaved device, which other clients must not disturb.
    case canary
    case ordinary
    /// Makes hundreds of calls at once.
    case flooder
    /// Does not read for minutes.
    case sleeper
    /// Sends invalid messages, and answers none.
    case rude
    /// Dies within a minute.
    case mayfly
  }

  /// A device that this client is connected to.
  struct Device {
    var number: Int
    var since: Instant
    var characteristics: [BledRPC.CharacteristicDescription] = []
    var subscriptions: [UInt16: Subscription] = [:]
    var isPolite: Bool { number < Population.polite }
  }

  struct Subscription {
    var since: Instant
    var isConfirmed = false
    /// Cancelled; the answer has not arrived yet.
    var isLeaving = false
    var lastValue: Instant?
  }

  let number: Int
  let manner: Manner
  unowned let simulation: Simulation
  var generator: SeededGenerator
  private(set) var connection: SessionConnection?
  var ledger = Ledger()
  var devices: [String: Device] = [:]
  var scans = false
  var advertisements: Set<Int> = []
  var services: [UInt16: BledRPC.ServiceDescription] = [:]
  /// The subscribers of our characteristics.
  var subscribers: Set<Subscriber> = []
  /// When it will read again.
  var asleepUntil = Instant.zero
  /// True if the daemon reads its lines.
  var isHeard = true
  private var reading: (any ScheduledWork)?
  private var isCut = false
  /// The number of sessions ended by the daemon.
  private(set) var closedByDaemon = 0

  init(_ number: Int, _ manner: Manner, in simulation: Simulation) {
    self.number = number
    self.manner = manner
    self.simulation = simulation
    generator = SeededGenerator(seed: simulation.seed, stream: UInt64(number) + 1000)
  }

  /// The session that its lines belong to.
  var session: Session? { connection?.session }
  var now: Instant { simulation.scheduler.now }
  var isAwake: Bool { asleepUntil <= now }

  // MARK: Life

  /// Connects, now or some time later.
  func begin(after delay: Duration) {
    simulation.scheduler.schedule(after: delay) { [self] in come() }
  }

  private func come() {
    guard !simulation.isOver, connection == nil else { return }
    (isHeard, isCut) = (true, false)
    connection = simulation.daemon.open(
      self, credentials: PeerCredentials(process: Int32(number), user: UInt32(1000 + number % 50), group: 100))
    simulation.count("sessions")
    call(SessionOpen.self, .init(name: "\(manner) \(number)"), .other)
    if let life = draw(life) {
      let mine = session?.id
      simulation.scheduler.schedule(after: life) { [self] in if mine == session?.id { leave() } }
    }
    actLater()
  }

  /// The duration of its stay; nil for always.
  private var life: ClosedRange<Double>? {
    switch manner {
    case .canary: nil
    case .mayfly: 1...60
    case .ordinary, .flooder, .sleeper, .rude: 600...14_400
    }
  }

  private func draw(_ range: ClosedRange<Double>?) -> Duration? {
    range.map { .seconds(generator.number(in: $0)) }
  }

  /// Dies, whatever it is in the middle of.
  func leave() {
    guard let connection else { return }
    simulation.bury(connection)
    simulation.daemon.closed(connection)
    forget()
    if manner != .canary { begin(after: .seconds(generator.number(in: 1...900))) }
  }

  private func forget() {
    connection = nil
    reading?.cancel()
    reading = nil
    ledger = Ledger()
    devices = [:]
    scans = false
    advertisements = []
    services = [:]
    subscribers = []
    asleepUntil = .zero
  }

  private func actLater() {
    let mine = session?.id
    let pause: ClosedRange<Double> =
      switch manner {
      case .canary: 50...70
      case .mayfly: 0.1...10
      case .ordinary, .flooder, .sleeper, .rude: 10...1200
      }
    simulation.scheduler.schedule(after: .seconds(generator.number(in: pause))) { [self] in
      guard let current = session?.id, current == mine, !simulation.isOver else { return }
      if isAwake, isHeard { act() }
      simulation.stepped(self)
      actLater()
    }
  }

  // MARK: SessionTransport

  func linesWait() {
    guard reading == nil else { return }
    let delay = max(now.duration(to: asleepUntil), .microseconds(200))
    reading = simulation.scheduler.schedule(after: delay) { [self] in
      reading = nil
      read()
    }
  }

  func reportsWait() { linesWait() }

  func setReading(_ wanted: Bool) { isHeard = wanted }

  func close() {
    isCut = true
    linesWait()
  }

  /// Reads a batch, as one readable socket would give.
  private func read() {
    guard let connection else { return }
    guard isAwake else { return linesWait() }
    let lines = connection.removeLines().lines
    for line in lines { take(line) }
    if !lines.isEmpty { return linesWait() }
    guard isCut, self.connection === connection else { return }
    closedByDaemon += 1
    simulation.count("closed by the daemon")
    if manner == .canary { simulation.trouble("canary \(number) was closed by the daemon") }
    if !ledger.open.isEmpty {
      simulation.trouble("client \(number) was closed with \(ledger.open.count) calls unanswered")
    }
    simulation.bury(connection)
    forget()
    begin(after: .seconds(generator.number(in: 1...900)))
  }

  // MARK: Calling

  func call<Method: RPCMethod>(_ method: Method.Type, _ params: Method.Params, _ concern: Ledger.Concern) {
    guard let connection, isHeard else { return }
    let id = ledger.ask(Method.name, concern, at: now)
    guard let line = try? RPCEncoding.request(method, id: .number(id), params) else {
      return simulation.trouble("\(Method.name) could not be encoded")
    }
    simulation.count("calls")
    connection.receive(line.dropLast())
  }
}
