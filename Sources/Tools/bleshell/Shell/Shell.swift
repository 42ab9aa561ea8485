import ArgumentParser
import BledClient
import BledRPC
import Bluetooth
import JSONFiles
import Glibc
import ValueFormats

/// The context of commands: the connection to the daemon, the devices, and the output.
@MainActor final class Shell {
  var output: Output
  let socket: String
  /// True if commands are read line by line, so that a connection outlives its command.
  var isLineMode: Bool
  /// The devices that `connect` connected.
  private(set) lazy var devices = ConnectedDevices { [unowned self] in report($0) }
  /// The number of files with running commands, one from within the other.
  var scripts = 0
  /// Prints an event, on a terminal above the line that is being typed; nil: on standard error.
  var announce: ((String) -> Void)?
  /// Prints a line of output above the line being typed; nil without a prompt.
  var show: ((String) -> Void)?
  /// The advertisements that continue in the background.
  var advertisements: [Int] = []
  /// The message of the last command that failed.
  private(set) var lastFailure: String?
  let language: CommandLanguage
  private var client: BledClient?
  /// The connection that is being made: several devices of one command share it.
  private var connecting: Task<BledClient, any Error>?
  /// True if a device is searched for.
  private var isScanning = false
  private var raw: RawConnection?
  private var knownNames: NameList?
  /// The faults of files with names that were reported.
  private var reportedFaults: Set<String> = []

  init(output: Output, socket: String, language: CommandLanguage, isLineMode: Bool) {
    self.output = output
    self.socket = socket
    self.language = language
    self.isLineMode = isLineMode
  }

  /// The connection to the daemon; made at the first use, and again after it was lost.
  func connection() async throws -> BledClient {
    if let client, client.isConnected { return client }
    let task = connecting ?? Task { [socket] in try await BledClient.connect(to: socket, name: "bleshell") }
    if connecting == nil {
      devices.dropAll()
      (connecting, advertisements) = (task, [])
    }
    let result = await withTaskCancellationHandler {
      await task.result
    } onCancel: {
      task.cancel()
    }
    if connecting == task { connecting = nil }
    // Another caller was cancelled, and the attempt with it.
    if case .failure = result, task.isCancelled, !Task.isCancelled { return try await connection() }
    let client = try result.get()
    self.client = client
    return client
  }

  /// Finds devices over the connection.
  func finder() async throws -> DeviceFinder {
    DeviceFinder(client: try await connection(), shell: self, names: names(), output: output)
  }

  /// Calls a function with a client that can scan. One has a single scan at a time: a search beside another one gets a
  /// connection of its own.
  func scanning<Result>(_ body: (BledClient) async throws -> Result) async throws -> Result {
    guard isScanning else {
      isScanning = true
      defer { isScanning = false }
      return try await body(try await connection())
    }
    let client = try await BledClient.connect(to: socket, name: "bleshell")
    defer { client.close() }
    return try await body(client)
  }

  /// The names and formats that the user gives, read at the first use. A file that cannot be read is reported once.
  func names() -> NameList {
    if let knownNames { return knownNames }
    let names = NameFiles.readable { fault in
      if reportedFaults.insert(fault).inserted { report("\(fault); the names of this file are not used") }
    }
    knownNames = names
    return names
  }

  /// The files have changed.
  func forgetNames() { knownNames = nil }

  /// The connection for unprocessed lines.
  func rawConnection() async throws -> RawConnection {
    if let raw { return raw }
    let raw = try await RawConnection(to: socket)
    self.raw = raw
    return raw
  }

  func endRawConnection() {
    raw?.close()
    raw = nil
  }

  func close() {
    client?.close()
    endRawConnection()
    devices.dropAll()
    (client, advertisements) = (nil, [])
  }

  /// Runs a command; Ctrl-C ends it.
  /// - Parameter json: True to report errors as JSON.
  /// - Returns: The exit status: 0 on success.
  func perform(json: Bool = false, _ body: @escaping @MainActor () async throws -> Void) async -> Int32 {
    let task = Task { @MainActor in try await body() }
    let interrupt = Interrupt { task.cancel() }
    defer { interrupt.end() }
    do {
      try await task.value
      return 0
    } catch {
      return await report(error, interrupted: task.isCancelled, output.with(json: json || output.json))
    }
  }

  private func report(_ error: any Error, interrupted: Bool, _ output: Output) async -> Int32 {
    switch error {
    case _ where interrupted:
      return 130
    case let failure as Failure:
      lastFailure = failure.message
      output.failure(failure)
      return failure.status
    case let error as FileError:
      lastFailure = "\(error)"
      output.failure(Failure("\(error)"))
      return 1
    case let error as BluetoothError:
      let error = error.naming()
      lastFailure = "\(error)"
      output.failure(error)
      if error.domain == .gap, !output.json, let remedies = await adapterRemedies(for: error) {
        output.problem(remedies)
      }
      return 1
    default:
      let (message, status) = language.outcome(of: error, json: output.json)
      if status != 0 { lastFailure = message }
      if status == 0 { output.line(message) } else { output.failure(Failure(message, status: status)) }
      return status
    }
  }

  /// The daemon's remedies for the adapters, if the error is about one.
  private func adapterRemedies(for error: BluetoothError) async -> String? {
    let codes: [GAPError] = [.adapterOff, .adapterAbsent, .adapterFailed]
    guard codes.contains(where: { $0.rawValue == error.code }) else { return nil }
    let adapters = try? await client?.call(AdapterList.self, Empty(), timeout: .seconds(5)).adapters
    let problems = (adapters ?? []).compactMap { adapter in
      adapter.problem.flatMap { problem in
        error.message.contains(problem.message) ? nil : adapter.problemText
      }
    }
    return problems.isEmpty ? nil : problems.joined(separator: "\n")
  }

  /// Reports an event that is independent of commands.
  private func report(_ text: String) {
    if let announce { announce(text) } else { output.problem(text) }
  }
}
