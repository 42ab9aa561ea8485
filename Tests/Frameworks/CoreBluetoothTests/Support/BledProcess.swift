import BledClient
import BledRPC
import Foundation
import TestSupport
import Testing

/// A real daemon on simulated adapters or its own host, with a socket in a folder of its own. The environment of this
/// process names the socket, so that managers made after this use it.
final class BledProcess {
  let folder: URL
  let socket: String
  private let air: TestAir
  private let configuration: String?
  private var process: Process?

  struct NotReady: Error, CustomStringConvertible {
    var description: String
  }

  /// Starts a daemon and waits until it listens.
  /// - Parameters:
  ///   - scenario: The simulated devices.
  ///   - adapters: The number of adapters on its air.
  ///   - configuration: The configuration file.
  init(_ scenario: String = Air.scenario, adapters: Int = 1, configuration: String? = nil) async throws {
    self.configuration = configuration
    folder = FileManager.default.temporaryDirectory.appendingPathComponent("bled-\(UUID().uuidString.prefix(8))")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    socket = folder.appendingPathComponent("s").path
    let file = folder.appendingPathComponent("scenario.json")
    try Data(scenario.utf8).write(to: file)
    let air = try TestAir(scenario: file.path, adapters: adapters, folder: folder.path)
    self.air = air
    setenv("BLED_SOCKET", socket, 1)
    try await until { try air.isReady }
    try await start()
  }

  /// The name of an adapter, from 0, of the daemon on the environment's socket: also in the process of an exit test.
  static func adapter(_ number: Int) -> String {
    let socket = ProcessInfo.processInfo.environment["BLED_SOCKET"] ?? ""
    return TestAir.name(number, in: URL(fileURLWithPath: socket).deletingLastPathComponent().path)
  }

  /// Calls `body` while the environment names an adapter.
  static func choosing(_ adapter: String?, _ body: () -> Void) {
    guard let adapter else { return body() }
    setenv("BLED_ADAPTER", adapter, 1)
    body()
    unsetenv("BLED_ADAPTER")
  }

  deinit {
    if let process { Self.end(process) }
    try? FileManager.default.removeItem(at: folder)
  }

  /// Terminates the daemon and waits for its end; kills it if it does not end.
  private static func end(_ process: Process) {
    process.terminate()
    if !Patience.wait(until: { !process.isRunning }) { Foundation.kill(process.processIdentifier, SIGKILL) }
    process.waitUntilExit()
  }

  func start() async throws {
    let process = Process()
    process.executableURL = try Self.executable()
    process.arguments = air.arguments + ["--socket", socket, "--log-level", "error"]
    if let configuration {
      let file = folder.appendingPathComponent("bled.json")
      try Data(configuration.utf8).write(to: file)
      process.arguments? += ["--config", file.path]
    }
    process.environment = ProcessInfo.processInfo.environment.merging(["STATE_DIRECTORY": folder.path]) { _, new in new
    }
    process.standardInput = FileHandle.nullDevice
    try process.run()
    self.process = process
    try await until {
      // The file exists a moment before the daemon listens on it.
      if let client = try? await BledClient.connect(to: socket, name: "harness") {
        client.close()
        return true
      }
      guard process.isRunning else {
        throw NotReady(description: "bled ended with status \(process.terminationStatus)")
      }
      return false
    }
  }

  /// Terminates the daemon, and waits for its end.
  func terminate() async {
    let process = process
    self.process = nil
    await onThread { if let process { Self.end(process) } }
  }

  /// Ends the daemon as `kill -9` does.
  func kill() async {
    let process = process
    self.process = nil
    await onThread {
      guard let process else { return }
      Foundation.kill(process.processIdentifier, SIGKILL)
      process.waitUntilExit()
    }
    try? FileManager.default.removeItem(atPath: socket)
  }

  /// A device ends its connection, as with the reason "remote user terminated connection".
  func disconnect(_ device: String) async throws {
    if TestAir.isOnOwnHost { return try await air.command(.disconnect, device) }
    let client = try await BledClient.connect(to: socket, name: "harness")
    _ = try await client.call(SimulationDisconnect.self, .init(device: device))
    client.close()
  }

  /// Switches its adapter on or off.
  func power(_ isOn: Bool) async throws {
    let client = try await BledClient.connect(to: socket, name: "harness")
    _ = try await client.call(AdapterPower.self, .init(adapter: nil, on: isOn))
    client.close()
  }

  /// The daemon built beside the tests, or the one that BLED_EXECUTABLE names.
  private static func executable() throws -> URL {
    if let path = ProcessInfo.processInfo.environment["BLED_EXECUTABLE"] { return URL(fileURLWithPath: path) }
    let beside = URL(fileURLWithPath: CommandLine.arguments[0]).resolvingSymlinksInPath()
      .deletingLastPathComponent().appendingPathComponent("bled")
    guard FileManager.default.isExecutableFile(atPath: beside.path) else {
      throw NotReady(description: "there is no \(beside.path): build the product bled, or set BLED_EXECUTABLE")
    }
    return beside
  }
}
