import BledClient
import Foundation
import TestSupport
import Testing

/// A real daemon with simulated adapters on one air, and a folder of its own.
final class Daemon {
  let folder: URL
  private let process = Process()

  struct NotReady: Error {}

  init(adapters: Int) async throws {
    folder = URL(fileURLWithPath: "/tmp/bled-near-\(UUID().uuidString.prefix(8))")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let scenario = folder.appendingPathComponent("scenario.json")
    try Data("{}".utf8).write(to: scenario)
    let own = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
    process.executableURL = URL(fileURLWithPath: own).deletingLastPathComponent().appendingPathComponent("bled")
    process.arguments =
      ["--socket", socket, "--log-level", "error", "--adapter", "simulated:\(scenario.path)"]
      + (1..<adapters).flatMap { _ in ["--adapter", "simulated"] }
    process.environment = ProcessInfo.processInfo.environment.merging(["STATE_DIRECTORY": folder.path]) { $1 }
    process.standardInput = FileHandle.nullDevice
    try process.run()
    let (socket, process) = (socket, process)
    let isListening = await onThread {
      Patience.wait { FileManager.default.fileExists(atPath: socket) || !process.isRunning } && process.isRunning
    }
    guard isListening else { throw NotReady() }
  }

  deinit {
    process.terminate()
    process.waitUntilExit()
    try? FileManager.default.removeItem(at: folder)
  }

  var socket: String { folder.appendingPathComponent("s").path }

  /// A client of its own, once the daemon answers.
  func client() async throws -> BledClient {
    var client: BledClient?
    try await until {
      client = try? await BledClient.connect(to: socket)
      return client != nil || !process.isRunning
    }
    return try #require(client, "the daemon has ended")
  }
}

/// Waits until a condition holds that others bring about.
func until(_ condition: () async throws -> Bool) async throws {
  let end = Patience.end
  while try await !condition() {
    try #require(ContinuousClock.now < end)
    try await Task.sleep(for: .milliseconds(5))
  }
}
