import Adapter
import BledRPC
import Bluetooth
import FoundationEssentials
import Logging
import TestSupport
import Testing

@testable import BledCore
@testable import SimulatedAdapter

/// Whatever a program sends, each of its calls is answered once and at once, or when the air has answered.
///
/// `MESSAGE_SEED=random` makes other messages than usual, `MESSAGE_SEED=n` repeats a run, `MESSAGES=n` makes a longer
/// one.
struct MessageTests {
  /// Maximum processor time for one message in a debug build; see Tests/Attack/generator.py for a release one.
  private static let longest = Duration.seconds(
    ProcessInfo.processInfo.environment["SANITIZE"] == nil ? 2 : 30)

  @Test("thousands of messages, made from the protocol's description", arguments: [true, false], [2026, 1])
  func messages(isPermitted: Bool, usual: UInt64) throws {
    let environment = ProcessInfo.processInfo.environment
    let seed = Seed.named("MESSAGE_SEED", otherwise: usual)
    let count = environment["MESSAGES"].flatMap { Int($0) } ?? 3000
    let scheduler = VirtualScheduler()
    let logger = Logger(label: "messages") { _ in SwiftLogNoOpLogHandler() }
    let policy = Policy(.init(), accounts: Accounts(users: [:], groups: [:]), ownUser: 0)
    let daemon = Daemon(identity: .init(name: "messages"), policy: policy, scheduler: scheduler, logger: logger)
    let adapter = SimulatedAdapter(
      id: "a0", scenario: .builtin, scheduler: scheduler, seed: seed, logger: logger,
      air: Air(scheduler: scheduler, seed: seed))
    daemon.add(adapter)
    var generator = try MessageGenerator(seed: seed)
    var sent = 0
    while sent < count {
      // User 5 has no permissions.
      let client = Program(daemon, user: isPermitted ? 0 : 5)
      for _ in 0..<500 where client.isOpen {
        sent += 1
        let message = generator.next(id: sent)
        if message.mustBeAnswered { client.expected.insert(sent) }
        let time = processorTime { client.send(message.line) }
        #expect(
          time < Self.longest,
          "MESSAGE_SEED=\(seed), message \(sent) of \(message.line.count) octets: \(message.method)")
        scheduler.advance(by: .milliseconds(1))
        // Switched off by one of the messages.
        if sent % 50 == 0 { adapter.setPower(true) { _ in } }
      }
      #expect(client.isOpen, "MESSAGE_SEED=\(seed): the daemon closed the session at message \(sent)")
      scheduler.advance(by: .seconds(1))
      // This answers requests that wait for the air.
      client.send(Data(#"{"jsonrpc":"2.0","method":"session.end"}"#.utf8))
      scheduler.advance(by: .seconds(1))
      client.read()
      let missing = client.expected.subtracting(client.answered)
      #expect(missing.isEmpty, "MESSAGE_SEED=\(seed): never answered: \(missing.sorted().prefix(5))")
      #expect(client.repeated.isEmpty, "MESSAGE_SEED=\(seed): answered again: \(client.repeated.prefix(5))")
      generator.peripherals = Array(([generator.peripherals[0]] + client.heard).prefix(10))
    }
  }
}

/// A program that notes which of its calls were answered.
private final class Program: SessionTransport {
  var expected: Set<Int> = []
  private(set) var answered: Set<Int> = []
  private(set) var repeated: [Int] = []
  /// Devices that were reported.
  private(set) var heard: [String] = []
  private(set) var isOpen = true
  private var connection: SessionConnection?

  init(_ daemon: Daemon, user: UInt32) {
    connection = daemon.open(self, credentials: PeerCredentials(process: 1, user: user, group: user))
  }

  func linesWait() {}
  func reportsWait() {}
  func setReading(_ wanted: Bool) {}
  func close() { isOpen = false }

  func send(_ line: Data) {
    connection?.receive(line)
    read()
  }

  func read() {
    while let lines = connection?.removeLines().lines, !lines.isEmpty {
      for line in lines { take(line) }
    }
  }

  private func take(_ line: Data) {
    switch try? RPCMessage(line: line.dropLast()).kind {
    case .success(.number(let id)), .failure(.number(let id)?, _):
      if !answered.insert(id).inserted { repeated.append(id) }
    case .notification(ScanReport.name) where heard.count < 9:
      if let report = try? RPCMessage(line: line.dropLast()).params(ScanReport.Params.self) {
        heard.append(report.peripheral)
      }
    default: break
    }
  }
}
