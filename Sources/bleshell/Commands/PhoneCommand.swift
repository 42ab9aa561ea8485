import ArgumentParser
import BledClient
import BledRPC
import Bluetooth
import FoundationEssentials
import PhoneServices

/// `bleshell phone`
struct PhoneCommand: ShellCommand {
  static let configuration = CommandConfiguration(
    commandName: "phone", abstract: "Shows the time, the notifications and the player of a bonded iPhone.",
    usage: "bleshell phone [<device>] <subject> [--count <count>] [--time <time>]",
    discussion: """
      "time" prints the phone's local time. "notifications" prints each notification that comes, changes or goes, and \
      "media" the state of the player whenever it changes, until Ctrl-C, --count or --time. Commands of the player are \
      \(MediaCommand.allCases.map { "\"\($0)\"" }.joined(separator: ", ")). The phone serves this only to a device that is \
      bonded with it, on the link that it has opened: "bleshell advertise --solicit \
      7905F431-B5CE-4E99-A40F-4B1E122D00D0" attracts it.
      """)

  /// A use of the phone.
  enum Subject {
    case time, notifications, media
    case command(MediaCommand)

    init?(_ word: String) {
      switch word {
      case "time": self = .time
      case "notifications": self = .notifications
      case "media": self = .media
      default:
        guard let command = MediaCommand.allCases.first(where: { "\($0)" == word }) else { return nil }
        self = .command(command)
      }
    }
  }

  @Argument(help: "The phone (default: the current device), and time, notifications, media or a command of the player.")
  var words: [String]
  @Option(help: "Stop after this many lines.") var count: Int?
  @Option(help: "Stop after this many seconds; with --count it is a failure if fewer lines came.") var time: Double?
  @OptionGroup var connection: ConnectionOptions
  @OptionGroup var global: GlobalOptions

  func validate() throws {
    guard count ?? 1 > 0 else { throw ValidationError("--count must be greater than 0") }
    try checkTime(time)
  }

  func run(in shell: Shell) async throws {
    let output = output(of: shell)
    let (name, rest) = try words(words, "SUBJECT")
    guard let subject = Subject(rest[0]) else {
      throw Failure("\(rest[0]) is no subject: \"bleshell help phone\" lists them", status: 64)
    }
    let deadline = connection.deadline
    try await shell.use(name, within: deadline, over: connection.adapter, onlyConnecting: true) { device in
      let phone = Phone(device: device, output: output, left: count)
      switch subject {
      case .time: try await deadline.bound { @MainActor in try await phone.printTime() }
      case .command(let command): try await deadline.bound { @MainActor in try await phone.perform(command) }
      case .notifications: try await follow(phone) { @MainActor in try await NotificationFollower(phone).run(deadline) }
      case .media: try await follow(phone) { @MainActor in try await MediaFollower(phone).run(deadline) }
      }
    }
  }

  /// Follows something until enough lines came, the time is over, or Ctrl-C.
  @MainActor private func follow(_ phone: Phone, _ body: @escaping @Sendable () async throws -> Void) async throws {
    do {
      let done: Void? = try await withDeadline(time ?? 0) {
        try await body()
        try Task.checkCancellation()
      }
      if done == nil, let count { throw Failure("fewer than \(count) lines came within the time") }
    } catch is CancellationError where count == nil && time == nil {
      // Ctrl-C is the regular end.
    }
  }
}
