import ArgumentParser
import BledCore
import BuildIdentity
import EventLoop
import Glibc
import Logging
import Scenarios

/// The daemon's command line.
@main
struct Bled: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "bled",
    abstract: "Shares the Bluetooth LE adapters of this machine among local programs, over a Unix socket.",
    discussion: """
      Without options it reads /etc/bled/bled.json, if there is one, and uses the first kernel adapter. Options go before \
      the file. See bled(8).
      """,
    version: "bled \(Build.text)")

  @Option(
    name: .long, parsing: .singleValue,
    help: ArgumentHelp(
      "An adapter to use; can be repeated, the first is the default. (default: hci0)",
      valueName: "hci0|ADDRESS|all|user:hci1|h4:TRANSPORT|simulated[:FILE]|virtual[:FILE]"),
    completion: .list([
      "hci0", "hci1", "all", "user:hci1", "h4:unix:", "h4:tcp:", "h4:/dev/ttyACM0", "simulated", "virtual",
    ]))
  var adapter: [String] = []

  @Option(
    name: .long,
    help: ArgumentHelp(
      "The socket for clients. (default: /run/bled/bled.sock, without root $XDG_RUNTIME_DIR/bled/bled.sock)",
      valueName: "path"))
  var socket: String?

  @Option(
    name: .long,
    help: ArgumentHelp(
      """
      Where to keep state across restarts. (default: $STATE_DIRECTORY, else /var/lib/bled, without root \
      ~/.local/state/bled)
      """,
      valueName: "directory"))
  var stateDirectory: String?

  @Option(
    name: .long,
    help: ArgumentHelp(
      "The lowest level of messages to log: \(Logger.Level.allCases.map(\.rawValue).joined(separator: ", ")).",
      valueName: "level"),
    transform: Bled.level)
  var logLevel: Logger.Level?

  @Option(name: .long, help: ArgumentHelp("The configuration file. (default: /etc/bled/bled.json)", valueName: "file"))
  var config: String?

  @Option(
    name: .long,
    help: ArgumentHelp(
      "An open descriptor, 3 or above: the line READY=1 is written to it when clients can connect, and it is closed.",
      valueName: "number"))
  var readyFd: CInt?

  @Flag(name: .long, help: "Read the configuration, and the scenarios that it names, say what is wrong, and exit.")
  var checkConfig = false

  @Flag(name: .long, help: "Print the built-in scenario of the simulated adapter, as a start for your own, and exit.")
  var printScenario = false

  /// The source of the settings.
  private var source: Settings.Source {
    Settings.Source(
      file: config, adapters: adapter, socket: socket, stateDirectory: stateDirectory, logLevel: logLevel)
  }

  /// The result of --check-config; an invalid configuration ends the program with its error.
  private func check() throws {
    let settings = try source.read()
    for account in settings.unknownAccounts { print("policy: there is no \(account)") }
    print("the configuration is valid")
  }

  func run() throws {
    if printScenario { return print(Scenario.builtinText) }
    if checkConfig { return try check() }
    let ready = try readyFd.map(Self.ready)
    SignalWatch.block([SIGTERM, SIGINT, SIGHUP])
    // The log's reader may have closed its end.
    signal(SIGPIPE, SIG_IGN)
    OpenFiles.raiseLimit()
    let settings = try source.read()
    StandardErrorLog.level = settings.configuration.log.level
    let writer = try StandardErrorLog.startWriter()
    defer { writer.end(within: Self.logTimeout) }
    LoggingSystem.bootstrap { _ in StandardErrorLog(writer) }
    let logger = Logger(label: "bled")
    do {
      try RunningDaemon(settings, from: source, loop: EventLoop(), logger: logger).run(telling: ready)
    } catch {
      logger.critical("\(error)")
      throw ExitCode.failure
    }
  }

  /// Maximum time for writing the last messages, in milliseconds.
  private static let logTimeout: CInt = 300

  private static func ready(_ number: CInt) throws -> ReadyDescriptor {
    do { return try ReadyDescriptor(number) } catch { throw ValidationError("--ready-fd: \(error)") }
  }

  private static func level(_ text: String) throws -> Logger.Level {
    guard let level = Logger.Level(rawValue: text) else {
      throw ValidationError(
        "give one of \(Logger.Level.allCases.map(\.rawValue).joined(separator: ", ")) as level")
    }
    return level
  }
}
