import BledClient
import Foundation
import Testing

/// Gives a test a daemon of its own, on simulated devices: `@Test(.bled(scenario: "{ devices: […] }"))`.
struct BledTrait: TestTrait, TestScoping {
  /// The text of a scenario file.
  let scenario: String

  func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
  ) async throws {
    let daemon = try SimulatedDaemon(scenario: scenario)
    defer { daemon.stop() }
    let client = try await BledClient.connect(to: daemon.socket, name: test.name)
    defer { client.close() }
    try await BledTest.$current.withValue(BledTest(client: client, socket: daemon.socket)) { try await function() }
  }
}

extension Trait where Self == BledTrait {
  /// A daemon of the test's own, on simulated devices.
  /// - Parameter scenario: with `clock: "manual"` nothing happens until `BledTest.advance` moves the clock.
  static func bled(scenario: String) -> Self { BledTrait(scenario: scenario) }
}

/// The daemon of the test that runs.
struct BledTest: Sendable {
  /// The daemon of the test that runs; nil without `.bled`.
  @TaskLocal static var current: BledTest?

  /// A session.
  let client: BledClient
  /// Where programs find the daemon: BLED_SOCKET for them.
  let socket: String

  /// Calls a method, and moves the clock behind it by some seconds, in which the answer comes.
  @discardableResult func call<Call: ClientCall>(
    _ call: Call.Type, _ params: Call.Params, within seconds: Double = 5
  ) async throws -> Call.Result {
    try await withCheckedThrowingContinuation { continuation in
      client.call(call, params) { continuation.resume(with: $0) }
      client.call(SimulationAdvance.self, .init(seconds: seconds)) { _ in }
    }
  }
}

/// A process `bled`; the environment variable BLED names the program, if not that on the PATH.
private final class SimulatedDaemon: Sendable {
  let socket: String
  private let folder: URL
  private let process: Process

  init(scenario: String) throws {
    folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    socket = folder.appending(path: "bled.sock").path
    let file = folder.appending(path: "scenario.json")
    try Data(scenario.utf8).write(to: file)
    process = Process()
    process.executableURL = URL(filePath: "/bin/sh")
    // `Process` passes no descriptors but these three, so standard output becomes the one that tells of readiness.
    process.arguments = [
      "-c", #"exec "$0" --adapter "simulated:$1" --socket "$2" --log-level error --ready-fd 3 3>&1 >&2"#,
      ProcessInfo.processInfo.environment["BLED"] ?? "bled", file.path, socket,
    ]
    process.environment = ProcessInfo.processInfo.environment.merging(["STATE_DIRECTORY": folder.path]) { $1 }
    let ready = Pipe()
    process.standardOutput = ready
    try process.run()
    // The end of the file comes also if it cannot start.
    let line = try ready.fileHandleForReading.readToEnd() ?? Data()
    guard line == Data("READY=1\n".utf8) else {
      stop()
      throw CocoaError(.executableLoad)
    }
  }

  func stop() {
    process.terminate()
    process.waitUntilExit()
    try? FileManager.default.removeItem(at: folder)
  }
}
