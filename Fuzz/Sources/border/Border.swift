import Adapter
import BledCore
import BledRPC
import Bluetooth
import Fuzzing
import Logging
import Scenarios
import SimulatedAdapter

#if canImport(Glibc)
  import Glibc
#endif
#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Swift keeps the one pointer to what a weakly referenced object needs besides itself in a form in which the leak
/// sanitizer does not find it, and the daemon lives on.
@_cdecl("__lsan_is_turned_off")
public func leaksAreNotLookedFor() -> Int32 { 1 }

/// Lines of a program, handled by a whole daemon: each that is refused is answered once, each call with an id once, in
/// the end, nothing else at all, and none takes long.
@main
enum Border {
  /// How long a line may take, with the sanitizers, on a busy machine.
  private static let longest = Duration.milliseconds(500)
  /// How much of an input is used: most are soon done, one in eight reaches the limits of a session, too.
  private static let usual = (octets: 8 << 10, lines: 64)
  private static let largest = (octets: 600 << 10, lines: 2048)

  static func main() {
    fuzz { octets in
      var input = FuzzInput(octets)
      let choice = input.octet()
      let size = choice >> 5 == 1 ? largest : usual
      run(lines(input.expanded(to: size.octets), upTo: size.lines), isPermitted: choice & 1 == 0)
    }
  }

  /// One daemon for all inputs, each of which is a session of its own.
  private struct World {
    let scheduler = VirtualScheduler()
    let daemon: Daemon
    private let adapter: SimulatedAdapter

    init() {
      let logger = Logger(label: "border") { _ in SwiftLogNoOpLogHandler() }
      var nobody = Configuration.Policy()
      nobody.grants = [:]
      daemon = Daemon(
        identity: .init(name: "fuzz"), policy: Policy(nobody, accounts: .system, ownUser: 0), scheduler: scheduler,
        logger: logger)
      adapter = SimulatedAdapter(
        id: "a0", scenario: .empty, scheduler: scheduler, seed: 1, logger: logger,
        air: Air(scheduler: scheduler, seed: 1))
      daemon.add(adapter)
    }

    /// An input may have switched the adapter off.
    func switchOn() {
      adapter.setPower(true) { _ in }
      scheduler.advance(by: .seconds(1))
    }
  }

  private nonisolated(unsafe) static let world = World()

  /// The lines of a text that have octets, by memchr(3): `split` takes longer than the daemon does.
  private static func lines(_ text: [UInt8], upTo count: Int) -> [Data] {
    text.withUnsafeBytes { text in
      var lines: [Data] = []
      var rest = text[...]
      while lines.count < count, let start = UnsafeRawBufferPointer(rebasing: rest).baseAddress {
        let end = memchr(start, CInt(UInt8(ascii: "\n")), rest.count).map { start.distance(to: $0) } ?? rest.count
        if end > 0 { lines.append(Data(bytes: start, count: end)) }
        rest = rest.dropFirst(end + 1)
        if rest.isEmpty { break }
      }
      return lines
    }
  }

  private static func run(_ lines: [Data], isPermitted: Bool) {
    world.switchOn()
    let (daemon, scheduler) = (world.daemon, world.scheduler)
    let program = Program(daemon, user: isPermitted ? 0 : 5)
    for line in lines where program.isOpen {
      let time = processorTime { program.send(line) }
      invariant(time < longest, "a line of \(line.count) octets took \(time)")
      scheduler.advance(by: .milliseconds(1))
    }
    // The answer to session.end is the last one; what was sent after it is not read.
    program.send(Data(#"{"jsonrpc":"2.0","method":"session.end"}"#.utf8))
    scheduler.advance(by: .seconds(1))
    program.read()
    invariant(!program.isOpen, "the session goes on")
    invariant(program.expected == program.answered, "expected \(program.expected), answered \(program.answered)")
  }
}

/// A program that counts the answers that it should get, and those that it gets, by id.
private final class Program: SessionTransport {
  private(set) var expected: [RequestID?: Int] = [:]
  private(set) var answered: [RequestID?: Int] = [:]
  private(set) var isOpen = true
  private var connection: SessionConnection?

  init(_ daemon: Daemon, user: UInt32) {
    connection = daemon.open(self, credentials: PeerCredentials(process: 1, user: user, group: user))
    read()
  }

  func linesWait() {}
  func reportsWait() {}
  func setReading(_ wanted: Bool) {}
  func close() { isOpen = false }

  func send(_ line: Data) {
    do throws(RPCMessage.RefusedLine) {
      switch try RPCMessage(line: line).kind {
      case .request(let id, _): expected[id, default: 0] += 1
      case .notification, .success, .failure: break
      }
    } catch {
      expected[error.id, default: 0] += 1
    }
    connection?.receive(line)
    read()
  }

  func read() {
    while let lines = connection?.removeLines().lines, !lines.isEmpty {
      for line in lines {
        switch try? RPCMessage(line: line.dropLast()).kind {
        case .success(let id): answered[id, default: 0] += 1
        case .failure(let id, _): answered[id, default: 0] += 1
        case .notification, .request: break
        case nil: invariant(false, "the daemon sent no message: \(String(decoding: line, as: UTF8.self))")
        }
      }
    }
  }
}
