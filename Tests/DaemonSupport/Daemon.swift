import BledClient
import Foundation
import TestSupport

/// A real daemon with adapters on one air, simulated or on its own host, and a folder of its own.
public final class Daemon {
  /// Its folder, removed with it.
  public let folder: URL
  private let air: TestAir
  private let process: RunningProgram

  /// The daemon ended, or did not listen in time.
  public struct NotReady: Error {}

  /// A condition was not met in time.
  public struct TimedOut: Error {}

  /// Starts a daemon and waits until it listens.
  /// - Parameters:
  ///   - adapters: The number of adapters on its air.
  ///   - scenario: The devices on it.
  public init(adapters: Int, scenario: String = "{}") async throws {
    folder = URL(fileURLWithPath: "/tmp/bled-near-\(UUID().uuidString.prefix(8))")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let file = folder.appendingPathComponent("scenario.json")
    try Data(scenario.utf8).write(to: file)
    let air = try TestAir(scenario: file.path, adapters: adapters, folder: folder.path)
    self.air = air
    try await until { try air.isReady }
    let own = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
    let program = URL(fileURLWithPath: own).deletingLastPathComponent().appendingPathComponent("bled").path
    let socket = Self.socket(in: folder)
    process = try RunningProgram(
      program,
      ["--socket", socket, "--log-level", "error"] + air.arguments,
      environment: ["STATE_DIRECTORY": folder.path])
    try await until { (try? ServerConnection(path: socket)) != nil || !process.isRunning }
    guard process.isRunning else { throw NotReady() }
  }

  deinit {
    process.shutDown()
    try? FileManager.default.removeItem(at: folder)
  }

  /// The name of an adapter, from 0.
  public func adapter(_ number: Int) -> String { air.names[number] }

  /// Its socket.
  public var socket: String { Self.socket(in: folder) }

  private static func socket(in folder: URL) -> String { folder.appendingPathComponent("s").path }

  /// A client of its own, once the daemon answers.
  public func client() async throws -> BledClient {
    var client: BledClient?
    try await until {
      client = try? await BledClient.connect(to: socket)
      return client != nil || !process.isRunning
    }
    guard let client else { throw NotReady() }
    return client
  }
}

/// Waits until a condition holds that others bring about.
/// - Throws: `Daemon.TimedOut` at the end of the patience.
public func until(_ condition: () async throws -> Bool) async throws {
  let end = Patience.end
  while try await !condition() {
    guard ContinuousClock.now < end else { throw Daemon.TimedOut() }
    try await Task.sleep(for: .milliseconds(5))
  }
}
