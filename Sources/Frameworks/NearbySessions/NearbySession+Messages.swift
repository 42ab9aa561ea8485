import BledClient

/// Messages and datagrams to the peer.
extension NearbySession {
  func send(_ message: [UInt8], isFirst: Bool = false, on node: isolated NearbyNode) throws(BluetoothError) {
    let longest = Frame.Kind.message.longest
    guard message.count <= longest else {
      throw BledError.invalidParameter.error(
        "a message has at most \(longest) octets: send several, or a resource")
    }
    guard isAlive else { throw NearbyNode.notConnected }
    hasTransferred = true
    guard machine.send(message, isFirst: isFirst) else {
      throw BledError.limitReached.error(
        "messages of more than 1 MiB wait to be received by the peer: send again when it has received some")
    }
    pump(.control, on: node)
  }

  /// Sends a message once there is room for it.
  func sendWhenReady(_ message: [UInt8], isFirst: Bool, on node: isolated NearbyNode) async throws(BluetoothError) {
    let cancelled = GAPError.cancelled.error("the message was not sent: its task was cancelled")
    guard !Task.isCancelled else { throw cancelled }
    while isAlive, message.count <= Frame.Kind.message.longest, !machine.hasRoom(for: message.count, isFirst: isFirst) {
      await waits.wait(at: .messages)
      guard !Task.isCancelled else { throw cancelled }
    }
    try send(message, isFirst: isFirst, on: node)
  }

  func sendDatagram(_ octets: [UInt8], on node: isolated NearbyNode) -> Bool {
    guard machine.sendDatagram(octets) else { return false }
    pump(.control, on: node)
    return true
  }
}
