import BledClient

/// The streams and resources of sessions.
extension NearbyNode {
  func handle(_ event: FlowTable.Event, of number: Int) {
    switch event {
    case .opened(let flow, let name):
      guard peers[number]?.connection != nil else { return }
      peers[number]?.flows.open(flow)
      queue(.stream(flow, name: name), for: number)
    case .offered(let flow, let offer):
      guard peers[number]?.connection != nil else { return }
      peers[number]?.flows.open(flow)
      queue(.resource(flow, offer), for: number)
    case .accepted(let flow, let offset):
      peers[number]?.flows.accepted(flow, offset: offset)
      wake(flow, of: number)
    case .data(let flow, let octets):
      peers[number]?.hasTransferred = true
      peers[number]?.flows.received(octets, of: flow)
      wake(flow, of: number)
    case .room(let flow): wake(flow, of: number)
    case .closed(let flow, let end): closed(flow, end, of: number)
    }
  }

  func closed(_ flow: UInt32, _ end: FlowEnd, of number: Int) {
    if peers[number]?.flows.close(flow, end) == true { wake(flow, of: number) }
  }

  private func wake(_ flow: UInt32, of number: Int) { waits.wake(at: .flow(flow, of: number)) }

  private func change(_ flow: UInt32, of number: Int) async { await waits.wait(at: .flow(flow, of: number)) }

  func open(name: String, offer: ResourceOffer?, to number: Int) throws(BluetoothError) -> OutgoingFlow {
    guard let peer = peers[number], peer.session.isAlive, let connection = peer.connection else { throw notConnected }
    guard name.utf8.count <= 255, offer.map({ $0.hash.count == 32 }) ?? true else {
      throw BledError.invalidParameter.error("a name has at most 255 octets, and a hash 32")
    }
    guard let flow = peers[number]?.session.openFlow(name: name, offer: offer) else {
      throw BledError.limitReached.error("\(FlowTable.limit) streams and resources to the peer are open: close some")
    }
    peers[number]?.flows.open(flow)
    pump(.bulk, of: number)
    return OutgoingFlow(connection: connection, flow: flow)
  }

  func accepted(_ flow: UInt32, of number: Int) async -> UInt64? {
    while !Task.isCancelled, let flows = peers[number]?.flows, flows.isOpen(flow) {
      if let offset = flows.offset(of: flow) { return offset }
      await change(flow, of: number)
    }
    return nil
  }

  func room(_ flow: UInt32, of number: Int) async -> Int? {
    while !Task.isCancelled, let peer = peers[number], peer.flows.isOpen(flow) {
      let room = peer.session.room(flow)
      if room > 0 { return room }
      await change(flow, of: number)
    }
    return nil
  }

  func write(_ octets: [UInt8], _ flow: UInt32, of number: Int) async -> Bool {
    var rest = octets[...]
    while !rest.isEmpty {
      guard let room = await room(flow, of: number) else { return false }
      let piece = rest.prefix(room)
      peers[number]?.hasTransferred = true
      guard peers[number]?.session.send(Array(piece), on: flow) == true else { return false }
      rest = rest.dropFirst(piece.count)
      // Several frames go together, as far as there is room for them.
      if rest.isEmpty || peers[number]?.session.room(flow) == 0 { pump(.bulk, of: number) }
    }
    return true
  }

  func accept(_ flow: UInt32, _ offset: UInt64, of number: Int) {
    peers[number]?.session.acceptFlow(flow, offset: offset)
    pump(.bulk, of: number)
  }

  func read(_ flow: UInt32, of number: Int) async -> [UInt8]? {
    while !Task.isCancelled, let peer = peers[number], peer.flows.contains(flow) {
      if let octets = peer.flows.removeUnread(of: flow) {
        peers[number]?.session.consume(octets.count, of: flow)
        resumeReaders(of: number)
        pump(.bulk, of: number)
        return octets
      }
      guard peer.flows.isOpen(flow) else { return nil }
      await change(flow, of: number)
    }
    return nil
  }

  func close(_ flow: UInt32, _ end: FlowEnd, of number: Int) {
    peers[number]?.session.closeFlow(flow, end)
    _ = peers[number]?.flows.removeUnread(of: flow)
    closed(flow, end, of: number)
    resumeReaders(of: number)
    pump(.bulk, of: number)
  }

  func ended(_ flow: UInt32, of number: Int) async -> FlowEnd {
    while let flows = peers[number]?.flows, flows.contains(flow) {
      if let end = flows.end(of: flow) { return end }
      guard !Task.isCancelled else { break }
      await change(flow, of: number)
    }
    return .cancelled
  }
}
