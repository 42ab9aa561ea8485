import FoundationEssentials
import Glibc

/// The adapters of a test's daemon, and the devices of a scenario around them: simulated by the daemon, or with
/// BLED_OWN_HOST=1 played by Bumble around controllers that bled's own host drives. With BLED_VIRTUAL=1 the daemon's
/// adapters are virtual ones.
public final class TestAir {
  /// The program that plays the air ended early.
  public struct Failure: Error, CustomStringConvertible {
    /// Its error.
    public let description: String
  }

  /// True if bled's own host replaces the simulated adapters.
  public static let isOnOwnHost = ProcessInfo.processInfo.environment["BLED_OWN_HOST"] != nil

  /// True if virtual adapters replace the simulated ones.
  public static let isVirtual = ProcessInfo.processInfo.environment["BLED_VIRTUAL"] != nil

  /// The names of the adapters.
  public let names: [String]
  /// The arguments that give a daemon these adapters.
  public let arguments: [String]
  private let control: String
  private let program: RunningProgram?

  /// Puts the devices on the air.
  /// - Parameters:
  ///   - scenario: Its file; nil for the built-in one, which the own host does not know.
  ///   - adapters: The number of adapters.
  ///   - folder: A folder that exists, and outlasts this object.
  ///   - isVirtual: True for virtual adapters.
  public init(scenario: String?, adapters: Int, folder: String, isVirtual: Bool = TestAir.isVirtual) throws {
    control = "\(folder)/control"
    names = (0..<adapters).map { Self.name($0, in: folder) }
    guard Self.isOnOwnHost else {
      let word = isVirtual ? "virtual" : "simulated"
      let devices = ["--adapter", scenario.map { "\(word):\($0)" } ?? word]
      arguments = devices + (1..<adapters).flatMap { _ in ["--adapter", word] }
      program = nil
      return
    }
    arguments = names.flatMap { ["--adapter", $0] }
    let package = #filePath.split(separator: "/").dropLast(3).map { "/\($0)" }.joined()
    program = try RunningProgram(
      "\(package)/.build/venv/bin/python",
      ["-B", "\(package)/Tests/Host/emulated_air.py", scenario ?? "", folder, "\(adapters)"])
  }

  /// The name of an adapter.
  /// - Parameters:
  ///   - number: 0 or more.
  ///   - folder: The folder that the air was given.
  public static func name(_ number: Int, in folder: String) -> String {
    guard !isOnOwnHost else { return "h4:unix:\(folder)/hci\(number)" }
    let word = isVirtual ? "virtual" : "simulated"
    return number == 0 ? word : "\(word)\(number)"
  }

  /// True if the controllers can be connected to.
  /// - Throws: `Failure` when their program has ended.
  public var isReady: Bool {
    get throws {
      guard let program else { return true }
      if (try? ServerConnection(path: control)) != nil { return true }
      guard program.isRunning else { throw Failure(description: "emulated_air.py ended; its error is above") }
      return false
    }
  }

  /// A command to a device on the own host, where the daemon has no calls for that.
  public enum Command: String, Sendable {
    /// To end its connection, as with the reason "remote user terminated connection".
    case disconnect
    /// Goes out of range, with its link, and returns.
    case vanish, comeBack
  }

  /// Commands a device; only on the own host.
  public func command(_ command: Command, _ device: String) async throws {
    let control = control
    try await onThread { Result { try Self.command(command, device, at: control) } }.get()
  }

  /// Commands a device, and blocks the thread until it has obeyed; only on the own host.
  public func commandNow(_ command: Command, _ device: String) throws {
    try Self.command(command, device, at: control)
  }

  private static func command(_ command: Command, _ device: String, at control: String) throws {
    let connection = try ServerConnection(path: control)
    // The empty line ends the connection.
    try connection.send("\(command.rawValue) \(device)\n\n")
    let answer = try connection.readAnswer()
    guard answer == "done\n" else { throw Failure(description: answer) }
  }
}
