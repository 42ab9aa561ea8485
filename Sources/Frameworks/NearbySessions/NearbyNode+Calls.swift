import BledClient

/// The calls of connections, by the numbers of their sessions: nothing may be left of one.
extension NearbyNode {
  static var notConnected: BluetoothError { GAPError.notConnected.error("the peer is not connected: invite it again") }

  private func session(_ number: Int) throws(BluetoothError) -> NearbySession {
    guard let session = sessions[number] else { throw Self.notConnected }
    return session
  }

  func hasLink(_ number: Int) -> Bool { sessions[number]?.machine.state == .connected }

  func nextEvent(of number: Int, for connection: NearbyConnection) async -> NearbyEvent? {
    await sessions[number]?.next(for: connection, on: self)
  }

  func end(_ number: Int, _ reason: NearbyEnd) { if let session = sessions[number] { end(session, reason) } }

  func answer(_ number: Int, _ accepts: Bool) -> Bool { sessions[number].map { answer($0, accepts) } ?? false }

  func send(_ message: [UInt8], to number: Int) throws(BluetoothError) {
    try session(number).send(message, on: self)
  }

  func sendWhenReady(_ message: [UInt8], to number: Int, isFirst: Bool) async throws(BluetoothError) {
    try await session(number).sendWhenReady(message, isFirst: isFirst, on: self)
  }

  func sendDatagram(_ octets: [UInt8], to number: Int) -> Bool {
    sessions[number]?.sendDatagram(octets, on: self) ?? false
  }

  func open(name: String, offer: ResourceOffer?, to number: Int) throws(BluetoothError) -> OutgoingFlow {
    try session(number).open(name: name, offer: offer, on: self)
  }

  func accepted(_ flow: UInt32, of number: Int) async -> UInt64? {
    await sessions[number]?.accepted(flow, on: self)
  }

  func room(_ flow: UInt32, of number: Int) async -> Int? { await sessions[number]?.room(flow, on: self) }

  func write(_ octets: [UInt8], _ flow: UInt32, of number: Int) async -> Bool {
    await sessions[number]?.write(octets, flow, on: self) ?? octets.isEmpty
  }

  func accept(_ flow: UInt32, _ offset: UInt64, of number: Int) { sessions[number]?.accept(flow, offset, on: self) }

  func read(_ flow: UInt32, of number: Int) async -> [UInt8]? { await sessions[number]?.read(flow, on: self) }

  func close(_ flow: UInt32, _ end: FlowEnd, of number: Int) { sessions[number]?.close(flow, end, on: self) }

  func ended(_ flow: UInt32, of number: Int) async -> FlowEnd {
    await sessions[number]?.ended(flow, on: self) ?? .cancelled
  }
}
