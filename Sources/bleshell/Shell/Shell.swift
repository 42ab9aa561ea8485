import ArgumentParser
import BledClient
import BledRPC
import Bluetooth
import JSONFiles
import Glibc

/// The context of commands: the connection to the daemon, the current device, and the output.
@MainActor final class Shell {
  let output: Output
  let socket: String
  /// Whether commands are read line by line, so that a connection outlives its command.
  let isLineMode: Bool
  /// The device chosen by `connect`.
  private(set) var current: Device?
  /// What happened between commands, reported before the next prompt.
  private(set) var news: [String] = []
  /// The advertisements that continue in the background.
  var advertisements: [Int] = []
  private var client: BledClient?
  private var raw: RawConnection?

  init(output: Output, socket: String, isLineMode: Bool) {
    self.output = output
    self.socket = socket
    self.isLineMode = isLineMode
  }

  /// The connection to the daemon; made at the first use, and again after it was lost.
  func connection() async throws -> BledClient {
    if let client, client.isConnected { return client }
    (current, advertisements) = (nil, [])
    let client = try await BledClient.connect(to: socket, name: "bleshell")
    self.client = client
    return client
  }

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
    (client, current, advertisements) = (nil, nil, [])
  }

  /// Runs a command; Ctrl-C ends it.
  /// - Returns: The exit status: 0 on success.
  func perform(_ body: @escaping @MainActor () async throws -> Void) async -> Int32 {
    let task = Task { @MainActor in try await body() }
    let interrupt = Interrupt { task.cancel() }
    defer { interrupt.end() }
    do {
      try await task.value
      return 0
    } catch {
      return await report(error, interrupted: task.isCancelled)
    }
  }

  private func report(_ error: any Error, interrupted: Bool) async -> Int32 {
    switch error {
    case _ where interrupted:
      return 130
    case let failure as Failure:
      if !failure.message.isEmpty { output.problem(failure.message) }
      return failure.status
    case let error as FileError:
      output.problem("\(error)")
      return 1
    case let error as BluetoothError:
      output.problem("\(error)")
      if error.domain == .gap, let remedies = await adapterRemedies(for: error) { output.problem(remedies) }
      return 1
    default:
      let message = Bleshell.fullMessage(for: error)
      let status = Bleshell.exitCode(for: error).rawValue
      if status == 0 { output.line(message) } else { output.problem(message) }
      return status
    }
  }

  /// What the daemon says is wrong with the adapters, if the error is about one.
  private func adapterRemedies(for error: BluetoothError) async -> String? {
    let codes: [GAPError] = [.adapterOff, .adapterAbsent, .adapterFailed]
    guard codes.contains(where: { $0.rawValue == error.code }) else { return nil }
    let adapters = try? await client?.call(AdapterList.self, Empty(), timeout: .seconds(5)).adapters
    let problems = (adapters ?? []).compactMap { adapter in
      adapter.problem.flatMap { problem in
        error.message.contains(problem.message) ? nil : "\(adapter.adapter): \(problem.message) \(problem.remedy)"
      }
    }
    return problems.isEmpty ? nil : problems.joined(separator: "\n")
  }

  /// Makes a device the current one and watches its connection.
  func choose(_ device: Device?) {
    current = device
    guard let device else { return }
    Task {
      for await reason in device.peripheral.ends where self.current === device {
        self.current = nil
        self.tell("\(device.name) disconnected" + (reason.map { ": \($0.message)" } ?? ""))
      }
    }
    Task {
      for await change in device.peripheral.changes where self.current === device {
        switch change {
        case .lost(let reason):
          self.tell("lost the connection to \(device.name)" + (reason.map { ": \($0.message)" } ?? ""))
        case .back:
          device.forgetTree()
          self.tell("\(device.name) is connected again")
        }
      }
    }
  }

  /// Reports an event that is independent of commands: at once, or on a terminal before the next prompt.
  private func tell(_ text: String) {
    if output.isTerminal, isLineMode { news.append(text) } else { output.problem(text) }
  }

  func takeNews() -> [String] {
    defer { news = [] }
    return news
  }
}
