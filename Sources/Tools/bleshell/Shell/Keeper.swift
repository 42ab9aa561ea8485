import Bluetooth
import FoundationEssentials

/// The retries of a command with --keep: the device, the adapter and the daemon may disappear and return. Each loss,
/// the reason of the wait and the return are reported, with the time.
@MainActor final class Keeper {
  /// The seconds of an attempt after which the reason for the wait is reported.
  private static let timeout = 2.0

  private let name: String
  private let timeout: Deadline
  private let report: (String) -> Void
  /// The last report since the device was there.
  private var said: String?
  private var notice: Task<Void, Never>?
  /// True if the device was connected once.
  private(set) var hasBegun = false

  /// - Parameters:
  ///   - name: The user's name for the device.
  ///   - timeout: The time limit for the first connection.
  ///   - report: Prints a report.
  init(_ name: String, within timeout: Deadline, report: @escaping (String) -> Void) {
    (self.name, self.timeout, self.report) = (name, timeout, report)
  }

  /// The time limit of an attempt.
  var deadline: Deadline { hasBegun || timeout.limit == nil ? .never : timeout }

  /// Runs a function, which calls `begins` once the device is connected, until it returns.
  /// - Throws: Errors that do not pass by themselves; and the first attempts' errors, if `timeout` has a limit.
  func run(_ body: @escaping @MainActor () async throws -> Void) async throws {
    defer { notice?.cancel() }
    while true {
      notice = Task { @MainActor in
        guard (try? await Task.sleep(for: .seconds(Self.timeout))) != nil else { return }
        say("waiting for \(Output.clean(name))")
      }
      do {
        return try await body()
      } catch let error where Self.passes(error) && (hasBegun || !timeout.isOver) {
        notice?.cancel()
        try Task.checkCancellation()
        let message = Self.message(error)
        say(message.hasSuffix(".") ? "\(message) Trying again" : "\(message); trying again")
      }
      // A device that stays current while it is away, and an unreachable daemon, fail at once.
      try await Task.sleep(for: .seconds(1))
    }
  }

  /// The device is connected.
  func begins() {
    notice?.cancel()
    if said != nil { report(Self.timed("connected to \(Output.clean(name))")) }
    (hasBegun, said) = (true, nil)
  }

  /// Reports something, once for each reason.
  func say(_ text: String) {
    defer { said = text }
    if said != text { report(Self.timed(text)) }
  }

  /// The failure of a command with a time that was over before it could begin.
  func neverBegan(_ seconds: Double?) -> Failure {
    let reason = said.map { ": \($0)" } ?? ""
    return Failure("no connection to \(Output.clean(name)) within \(shortNumber(seconds ?? 0)) s\(reason)")
  }

  private static func timed(_ text: String) -> String { "\(clockText(Date())) \(text)" }

  /// The reason in words.
  static func message(_ error: any Error) -> String {
    (error as? Failure)?.message ?? (error as? BluetoothError)?.message ?? "\(error)"
  }

  /// True if the reason of an error may go by itself.
  static func passes(_ error: any Error) -> Bool {
    if let failure = error as? Failure { return failure.passes }
    guard let error = error as? BluetoothError else { return false }
    let gap: [GAPError] = [
      .timeout, .cancelled, .disconnected, .notConnected, .connectionFailed, .connectionLimitReached, .adapterOff,
      .adapterAbsent, .adapterFailed,
    ]
    let bled: [BledError] = [.daemonUnreachable, .shuttingDown, .limitReached, .tooSlow, .unknownHandle]
    switch error.domain {
    case .hci: return true
    case .gap: return gap.contains { $0.rawValue == error.code }
    case .bled: return bled.contains { $0.rawValue == error.code }
    case .att: return false
    }
  }
}
