import BledClient

/// Connections to devices.
extension NearbyNode {
  /// Connects to a device, or joins the present connection's users.
  func acquire(_ peripheral: String) async throws(BluetoothError) -> Peripheral {
    // Counted before: a release meanwhile must not disconnect the link about to be used.
    links.join(peripheral)
    guard await beginChange(peripheral) else {
      await release(peripheral)
      throw GAPError.cancelled.error("the request for a connection was cancelled")
    }
    do throws(BluetoothError) {
      let connection = try await connect(peripheral)
      links.connected(peripheral, connection)
      endChange(peripheral)
      return connection
    } catch {
      endChange(peripheral)
      await release(peripheral)
      throw error
    }
  }

  private func connect(_ peripheral: String) async throws(BluetoothError) -> Peripheral {
    let task = Task { [client, settings] () async -> Result<Peripheral, BluetoothError> in
      do throws(BluetoothError) {
        return .success(try await client.connect(.identifier(peripheral), adapter: settings.adapter))
      } catch {
        return .failure(error)
      }
    }
    return try await Self.result(
      of: task, within: Self.connectingLimit, on: settings.clock,
      or: GAPError.timeout.error("no connection to the device of the peer within \(Self.connectingLimit)"))
  }

  /// A link's last user releases it.
  func release(_ peripheral: String) async {
    guard links.leave(peripheral) else { return }
    await Self.outcome { await self.giveBack(peripheral) }
  }

  private func giveBack(_ peripheral: String) async {
    await beginChange(peripheral)
    try? await links.removeUnused(peripheral)?.disconnect()
    endChange(peripheral)
  }

  /// Waits until the device's link is neither being requested nor given back.
  /// - Returns: False if the task was cancelled before; else `endChange` is to follow.
  @discardableResult
  func beginChange(_ peripheral: String) async -> Bool {
    while links.isChanging(peripheral) {
      guard !Task.isCancelled else { return false }
      await wait(at: .change(of: peripheral))
    }
    links.beginChange(peripheral)
    return true
  }

  func endChange(_ peripheral: String) {
    links.endChange(peripheral)
    wake(at: .change(of: peripheral))
  }

  /// Reads a peer's description; a device may have several.
  func description(of link: Peripheral, _ identifier: UInt64) async throws(BluetoothError) -> PeerDescription {
    let task = Task { () async -> Result<PeerDescription, BluetoothError> in
      do throws(BluetoothError) {
        return .success(try await readDescription(of: link, identifier))
      } catch {
        return .failure(error)
      }
    }
    return try await Self.result(
      of: task, within: Self.readingLimit, on: settings.clock,
      or: GAPError.connectionFailed.error("the description of the peer was not read in time"))
  }

  /// Waits for a task, which is cancelled when its time is over, or the present task is cancelled.
  /// - Throws: the task's error; `late` after its time.
  static func result<Value: Sendable>(
    of task: Task<Result<Value, BluetoothError>, Never>, within time: Duration, on clock: any Clock<Duration>,
    or late: BluetoothError
  ) async throws(BluetoothError) -> Value {
    let timer = Task {
      try await clock.sleep(for: time)
      task.cancel()
    }
    defer { timer.cancel() }
    let result = await withTaskCancellationHandler {
      await task.value
    } onCancel: {
      task.cancel()
    }
    if case .failure = result, task.isCancelled, !Task.isCancelled { throw late }
    return try result.get()
  }

  private func readDescription(
    of link: Peripheral, _ identifier: UInt64
  ) async throws(BluetoothError) -> PeerDescription {
    for service in try await link.discoverServices([settings.type.uuid]) {
      for characteristic in try await link.discoverCharacteristics([ServiceType.descriptionUUID], of: service) {
        let value = try await link.read(characteristic.handle)
        if let description = PeerDescription(value: value), description.identifier == identifier { return description }
      }
    }
    throw BledError.unknownAttribute.error("the device has no description of the peer: it may have stopped")
  }
}
