import BledClient

/// Connections to devices, which sessions and looks at descriptions share, and of which one is made at a time.
extension NearbyNode {
  /// Connects to a device, or joins the users of the present connection.
  func acquire(_ peripheral: String) async throws(BluetoothError) -> Peripheral {
    while isConnecting { await withCheckedContinuation { connectWaiters.append($0) } }
    isConnecting = true
    defer {
      isConnecting = false
      if !connectWaiters.isEmpty { connectWaiters.removeFirst().resume() }
    }
    // Counted before: a release meanwhile must not disconnect the link that is about to be used.
    linkUsers[peripheral, default: 0] += 1
    do throws(BluetoothError) {
      return try await client.connect(.identifier(peripheral), adapter: settings.adapter, timeout: .seconds(10))
    } catch {
      leave(peripheral)
      throw error
    }
  }

  /// - Returns: whether nothing uses the connection any more.
  @discardableResult
  private func leave(_ peripheral: String) -> Bool {
    let count = (linkUsers[peripheral] ?? 1) - 1
    linkUsers[peripheral] = count > 0 ? count : nil
    return count <= 0
  }

  /// The last user of a connection ends it.
  func release(_ link: Peripheral) async {
    if leave(link.identifier) { try? await link.disconnect() }
  }

  /// Reads the description of a peer; a device may have several.
  func description(of link: Peripheral, _ identifier: UInt64) async throws(BluetoothError) -> PeerDescription {
    for service in try await link.discoverServices([settings.type.uuid]) {
      for characteristic in try await link.discoverCharacteristics([ServiceType.descriptionUUID], of: service) {
        let value = try await link.read(characteristic.handle)
        if let description = PeerDescription(value: value), description.identifier == identifier { return description }
      }
    }
    throw BledError.unknownAttribute.error("the device has no description of the peer: it may have stopped")
  }
}
