import FoundationEssentials
import Glibc

/// A program that runs as a process of its own until its last reference is released.
///
/// Foundation's `Process` learns of the end on a socket that the process inherits, and so does every other process that
/// is started at that moment: it may hear of the end late, or never.
public final class RunningProgram {
  /// The program could not be started: the reason.
  public struct Failure: Error, CustomStringConvertible {
    /// The program and the error.
    public let description: String
  }

  private let pid: pid_t
  private var hasEnded = false

  /// Starts a program. It shares the standard error of this process.
  /// - Parameters:
  ///   - path: Its file.
  ///   - environment: Added to the environment of this process.
  ///   - output: The file for its standard output, which otherwise goes to the standard error.
  public init(
    _ path: String, _ arguments: [String], environment: [String: String] = [:], output: String? = nil
  ) throws {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
    if let output {
      posix_spawn_file_actions_addopen(&actions, 1, output, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
    } else {
      posix_spawn_file_actions_adddup2(&actions, 2, 1)
    }
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    // The threads of Dispatch block signals, which a process would inherit.
    var signals = sigset_t()
    sigemptyset(&signals)
    posix_spawnattr_setsigmask(&attributes, &signals)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
    let variables = ProcessInfo.processInfo.environment.merging(environment) { $1 }.map { "\($0.key)=\($0.value)" }
    var pid: pid_t = 0
    let code = Self.withTexts([path] + arguments) { arguments in
      Self.withTexts(variables) { posix_spawn(&pid, path, &actions, &attributes, arguments, $0) }
    }
    guard code == 0 else { throw Failure(description: "\(path): \(String(cString: strerror(code)))") }
    self.pid = pid
  }

  deinit { shutDown() }

  /// Terminates it, and waits for its end; kills it if it does not end.
  public func shutDown() {
    // A number that was waited for may be that of another process.
    guard isRunning else { return }
    kill(pid, SIGTERM)
    guard !Patience.wait(until: { !isRunning }) else { return }
    print("process \(pid) did not end at SIGTERM")
    kill(pid, SIGKILL)
    while waitpid(pid, nil, 0) < 0, errno == EINTR {}
    hasEnded = true
  }

  /// True until it has ended.
  public var isRunning: Bool {
    if !hasEnded, waitpid(pid, nil, WNOHANG) == pid { hasEnded = true }
    return !hasEnded
  }

  private static func withTexts<Result>(_ texts: [String], _ body: ([UnsafeMutablePointer<CChar>?]) -> Result) -> Result
  {
    let copies = texts.map { strdup($0) }
    defer { for copy in copies { free(copy) } }
    return body(copies + [nil])
  }
}
