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

  /// Opens a control channel.
  /// - Parameter answer: the acceptor's hello for a dialer.
  func open(
    _ opening: ControlOpening, isolation: isolated (any Actor)? = #isolation,
    answer: (Hello, _ remoteKey: [UInt8]) async throws(Violation) -> Hello
  ) async throws(Violation) -> ControlOpening.Opened {
    var opening = opening
    var actions = try opening.start()
    while true {
      while !actions.isEmpty {
        switch actions.removeFirst() {
        case .send(let octets): try await writeAll(octets)
        case .opened(let opened): return opened
        case .greeted(let hello, let key): actions += try opening.accept(try await answer(hello, key))
        }
      }
      actions = try opening.receive(try await readNext())
    }
  }

  /// Opens a bulk channel.
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
