import BledClient

/// The connections to devices, requested for the first of their users and released by the last one.
actor SharedLinks {
  /// The time for a device to be connected.
  private static let connectingLimit = Duration.seconds(10)
  /// The time for reading a description, however many services a device has: others wait for it.
  static let readingLimit = Duration.seconds(15)

  private let client: BledClient
  private let settings: NearbySettings
  private(set) var devices = DeviceLinks()
  /// The waits for the request for a device's connection, or for its release.
  let changes = Waits<String>()
  /// The reading of descriptions: a device's first, and those after a failure.
  private let lookTurns = Turns(), retryTurns = Turns()

  init(client: BledClient, settings: NearbySettings) { (self.client, self.settings) = (client, settings) }

  /// Counts another user of a device's link, whichever side has requested it.
  func join(_ peripheral: String) { devices.join(peripheral) }

  /// Connects to a device, or joins the present connection's users.
  func acquire(_ peripheral: String) async throws(BluetoothError) -> Peripheral {
    // Counted before: a release meanwhile must not disconnect the link about to be used.
    devices.join(peripheral)
    guard await beginChange(peripheral) else {
      await release(peripheral)
      throw GAPError.cancelled.error("the request for a connection was cancelled")
    }
    do throws(BluetoothError) {
      let connection = try await connect(peripheral)
      devices.connected(peripheral, connection)
      endChange(peripheral)
      return connection
    } catch {
      endChange(peripheral)
      await release(peripheral)
      throw error
    }
  }

  private func connect(_ peripheral: String) async throws(BluetoothError) -> Peripheral {
    let task = Task { [client, settings] in
      await Result { () async throws(BluetoothError) in
        try await client.connect(.identifier(peripheral), adapter: settings.adapter)
      }
    }
    return try await task.result(
      within: Self.connectingLimit, on: settings.clock,
      or: GAPError.timeout.error("no connection to the device of the peer within \(Self.connectingLimit)"))
  }

  /// A link's last user releases it.
  func release(_ peripheral: String) async {
    guard devices.leave(peripheral) else { return }
    await Task.outcome { await self.giveBack(peripheral) }
  }

  private func giveBack(_ peripheral: String) async {
    await beginChange(peripheral)
    try? await devices.removeUnused(peripheral)?.disconnect()
    endChange(peripheral)
  }

  /// Waits until the device's link is neither being requested nor given back.
  /// - Returns: False if the task was cancelled before; else `endChange` is to follow.
  @discardableResult
  func beginChange(_ peripheral: String) async -> Bool {
    while devices.isChanging(peripheral) {
      guard !Task.isCancelled else { return false }
      await changes.wait(at: peripheral)
    }
    devices.beginChange(peripheral)
    return true
  }

  func endChange(_ peripheral: String) {
    devices.endChange(peripheral)
    changes.wake(at: peripheral)
  }

  // MARK: Descriptions

  /// A peer's description, read over a short connection. One is read at a time, so advertising strangers cannot fill
  /// the radio with connections; an invitation does not wait for them. A second one, after a failed reading, is read
  /// meanwhile, so a device that never answers does not delay new ones.
  func look(at peripheral: String, _ identifier: UInt64, isRetry: Bool = false) async -> PeerDescription? {
    let turns = isRetry ? retryTurns : lookTurns
    await turns.begin()
    defer { turns.end() }
    guard let link = try? await acquire(peripheral) else { return nil }
    let description = try? await description(of: link, identifier)
    await release(peripheral)
    return description
  }

  /// Reads a peer's description; a device may have several.
  func description(of link: Peripheral, _ identifier: UInt64) async throws(BluetoothError) -> PeerDescription {
    let task = Task { [type = settings.type] in
      await Result { () async throws(BluetoothError) in try await Self.read(identifier, of: link, type) }
    }
    return try await task.result(
      within: Self.readingLimit, on: settings.clock,
      or: GAPError.connectionFailed.error("the description of the peer was not read in time"))
  }

  private static func read(
    _ identifier: UInt64, of link: Peripheral, _ type: ServiceType
  ) async throws(BluetoothError) -> PeerDescription {
    for service in try await link.discoverServices([type.uuid]) {
      for characteristic in try await link.discoverCharacteristics([ServiceType.descriptionUUID], of: service) {
        let value = try await link.read(characteristic.handle)
        if let description = PeerDescription(value: value), description.identifier == identifier { return description }
      }
    }
    throw BledError.unknownAttribute.error("the device has no description of the peer: it may have stopped")
  }
}
