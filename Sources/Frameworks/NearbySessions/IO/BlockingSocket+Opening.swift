/// The handshakes of channels.
extension BlockingSocket {
  /// Closes the socket unless something with it is done in time, or when the task is cancelled.
  func bounded<Value: Sendable>(
    within time: Duration, on clock: any Clock<Duration>, _ body: @Sendable () async throws(Violation) -> Value
  ) async throws(Violation) -> Value {
    let timer = Task {
      try await clock.sleep(for: time)
      close()
    }
    defer { timer.cancel() }
    let result = await withTaskCancellationHandler {
      await Result(body)
    } onCancel: {
      close()
    }
    return try result.get()
  }

  /// The dialer's side of a control channel's opening.
  func open(_ opening: ControlOpening) async throws(Violation) -> ControlOpening.Opened {
    var opening = opening
    var actions = try opening.start()
    while true {
      for action in actions {
        switch action {
        case .send(let octets): try await writeAll(octets)
        case .opened(let opened): return opened
        case .greeted: break
        }
      }
      actions = try opening.receive(try await readNext())
    }
  }

  /// Either side of a bulk channel's opening.
  func open(_ opening: BulkOpening) async throws(Violation) -> SecureStream {
    var opening = opening
    var step = try opening.start()
    while true {
      if !step.send.isEmpty { try await writeAll(step.send) }
      if let stream = step.stream { return stream }
      step = try opening.receive(try await readNext())
    }
  }

  /// Reads during a handshake, which cannot be without the rest.
  func readNext() async throws(Violation) -> [UInt8] {
    guard let octets = await read() else { throw Violation("the end of the channel") }
    return octets
  }

  /// Writes during a handshake, which cannot be without the rest.
  func writeAll(_ octets: [UInt8]) async throws(Violation) {
    guard await write(octets) else { throw Violation("the end of the channel") }
  }
}
