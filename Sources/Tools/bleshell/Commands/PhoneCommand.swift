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
    usage: "bleshell phone [<device>] <subject> [--count <count>] [--time <time>] [--keep]",
    discussion: """
      "time" prints the phone's local time. "notifications" prints each notification that comes, changes or goes, and \
      "media" the state of the player whenever it changes, until Ctrl-C, --count or --time. With --keep and a device \
      they never give up: they wait for the phone, an adapter and bled, from the beginning and after each loss, and say \
      with the time what they wait for and when the phone is back; --timeout limits how long the first connection may \
      take, --time all of it. "positive NUMBER" and "negative NUMBER" perform the actions of a notification. Commands \
      of the player are \
      \(MediaCommand.allCases.map { "\"\($0)\"" }.joined(separator: ", ")). The phone serves this only to a device that is \
      bonded with it, on the link that it has opened: "bleshell advertise --solicit \
      7905F431-B5CE-4E99-A40F-4B1E122D00D0" attracts it.
      """)

  /// A use of the phone.
  enum Subject {
    case time, notifications, media
    case action(NotificationAction)
    case command(MediaCommand)

    /// The words for subjects.
    static let words =
      ["time", "notifications", "media"] + NotificationAction.names + MediaCommand.allCases.map { "\($0)" }

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

    /// True if it continues until an event ends it.
    var isFollowed: Bool {
      switch self {
      case .notifications, .media: true
      case .time, .action, .command: false
      }
    }
  }

  @Argument(
    help: """
      The phone (default: the current device), and time, notifications, media, an action with the number of its \
      notification, or a command of the player.
      """, completion: ShellCompletion.devices(then: Subject.words))
  var words: [String]
  @Option(help: "Stop after this many lines.") var count: Int?
  @Option(help: "Stop after this many seconds; with --count it is a failure if fewer lines came.") var time: Double?
  @Flag(help: "Wait for the phone, the adapter and bled, and follow it again whenever one of them was lost.")
  var keep = false
  @OptionGroup(title: "Reaching the device") var connection: ConnectionOptions
  @OptionGroup(title: "Common options") var global: GlobalOptions

  func validate() throws {
    guard count ?? 1 > 0 else { throw ValidationError("--count must be greater than 0") }
    guard !keep || words.count == 2 && Subject(words[1])?.isFollowed == true else {
      throw ValidationError("--keep needs a device, and notifications or media")
    }
    try checkTime(time)
  }

  func run(in shell: Shell) async throws {
    let (name, subject) = try parsed()
    let lines = PhoneLines(output(of: shell), left: count)
    if keep, let name { return try await keep(name, subject, lines, in: shell) }
    let deadline = connection.deadline
    try await shell.use(name, within: deadline, over: connection.adapter, onlyConnecting: true) { device in
      let phone = Phone(device: device, lines)
      guard subject.isFollowed else {
        return try await deadline.bound { @MainActor in try await Self.perform(subject, phone) }
      }
      let isTimeOver = try await limited { try await Self.follow(subject, phone, deadline) }
      if isTimeOver { try checkCount() }
    }
  }

  private func parsed() throws -> (device: String?, subject: Subject) {
    if let action = NotificationAction(words.suffix(2)), words.count <= 3 {
      return (words.count == 3 ? words[0] : nil, .action(action))
    }
    let (name, rest) = try words(words, "SUBJECT")
    guard let subject = Subject(rest[0]) else {
      throw Failure("\(rest[0]) is no subject: \"bleshell help phone\" lists them", status: 64)
    }
    return (name, subject)
  }

  @MainActor private static func perform(_ subject: Subject, _ phone: Phone) async throws {
    switch subject {
    case .time: try await phone.printTime()
    case .action(let action): try await phone.perform(action)
    case .command(let command): try await phone.perform(command)
    case .notifications, .media: break
    }
  }

  @MainActor private static func follow(_ subject: Subject, _ phone: Phone, _ deadline: Deadline) async throws {
    if case .media = subject {
      try await MediaFollower(phone).run(deadline)
    } else {
      try await NotificationFollower(phone).run(deadline)
    }
    try Task.checkCancellation()
  }

  /// Follows the phone on one link after the other.
  @MainActor private func keep(
    _ name: String, _ subject: Subject, _ lines: PhoneLines, in shell: Shell
  ) async throws {
    let keeper = Keeper(name, within: connection.deadline) { lines.output.problem($0) }
    let isTimeOver = try await limited { @MainActor in
      try await keeper.run { @MainActor in
        let deadline = keeper.deadline
        try await shell.use(name, within: deadline, over: connection.adapter, onlyConnecting: true) { device in
          try await Self.follow(subject, Phone(device: device, lines) { keeper.begins() }, deadline)
        }
      }
    }
    guard isTimeOver else { return }
    guard keeper.hasBegun else { throw keeper.neverBegan(time) }
    try checkCount()
  }

  /// The time is over.
  /// - Throws: `Failure` if some of the lines are missing.
  private func checkCount() throws {
    if let count { throw Failure("fewer than \(count) lines came within the time") }
  }

  /// Runs `body` until there are enough lines, the time is over, or Ctrl-C.
  /// - Returns: True if the time was over before.
  @MainActor private func limited(_ body: @escaping @MainActor @Sendable () async throws -> Void) async throws -> Bool {
    do {
      let done: Void? = try await withDeadline(time ?? 0) {
        try await body()
        try Task.checkCancellation()
      }
      return done == nil
    } catch is CancellationError where count == nil && time == nil {
      // Ctrl-C is the regular end.
      return false
    }
  }
}
