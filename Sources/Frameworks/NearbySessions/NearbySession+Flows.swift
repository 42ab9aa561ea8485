import BledClient

/// The streams and resources of a session.
extension NearbySession {
  func handle(_ event: FlowTable.Event) {
    switch event {
    case .opened(let flow, let name):
      guard connection != nil else { return }
      flows.open(flow)
      queue(.stream(flow, name: name))
    case .offered(let flow, let offer):
      guard connection != nil else { return }
      flows.open(flow)
      queue(.resource(flow, offer))
    case .accepted(let flow, let offset):
      flows.accepted(flow, offset: offset)
      waits.wake(at: .flow(flow))
    case .data(let flow, let octets):
      hasTransferred = true
      flows.received(octets, of: flow)
      waits.wake(at: .flow(flow))
    case .room(let flow): waits.wake(at: .flow(flow))
    case .closed(let flow, let end): closed(flow, end)
    }
  }

  func closed(_ flow: UInt32, _ end: FlowEnd) { if flows.close(flow, end) { waits.wake(at: .flow(flow)) } }

  func open(name: String, offer: ResourceOffer?, on node: isolated NearbyNode) throws(BluetoothError) -> OutgoingFlow {
    guard isAlive, let connection else { throw NearbyNode.notConnected }
    guard name.utf8.count <= 255, offer.map({ $0.hash.count == 32 }) ?? true else {
      throw BledError.invalidParameter.error("a name has at most 255 octets, and a hash 32")
    }
    guard let flow = machine.openFlow(name: name, offer: offer) else {
      throw BledError.limitReached.error("\(FlowTable.limit) streams and resources to the peer are open: close some")
    }
    flows.open(flow)
    pump(.bulk, on: node)
    return OutgoingFlow(connection: connection, flow: flow)
  }

  func accepted(_ flow: UInt32, on node: isolated NearbyNode) async -> UInt64? {
    while !Task.isCancelled, flows.isOpen(flow) {
      if let offset = flows.offset(of: flow) { return offset }
      await waits.wait(at: .flow(flow))
    }
    return nil
  }

  func room(_ flow: UInt32, on node: isolated NearbyNode) async -> Int? {
    while !Task.isCancelled, flows.isOpen(flow) {
      let room = machine.room(flow)
      if room > 0 { return room }
      await waits.wait(at: .flow(flow))
    }
    return nil
  }

  func write(_ octets: [UInt8], _ flow: UInt32, on node: isolated NearbyNode) async -> Bool {
    var rest = octets[...]
    while !rest.isEmpty {
      guard let room = await room(flow, on: node) else { return false }
      let piece = rest.prefix(room)
      hasTransferred = true
      guard machine.send(Array(piece), on: flow) else { return false }
      rest = rest.dropFirst(piece.count)
      // Several frames go together, as far as there is room for them.
      if rest.isEmpty || machine.room(flow) == 0 { pump(.bulk, on: node) }
    }
    return true
  }

  func accept(_ flow: UInt32, _ offset: UInt64, on node: isolated NearbyNode) {
    machine.acceptFlow(flow, offset: offset)
    pump(.bulk, on: node)
  }

  func read(_ flow: UInt32, on node: isolated NearbyNode) async -> [UInt8]? {
    while !Task.isCancelled, flows.contains(flow) {
      if let octets = flows.removeUnread(of: flow) {
        machine.consume(octets.count, of: flow)
        resumeReaders()
        pump(.bulk, on: node)
        return octets
      }
      guard flows.isOpen(flow) else { return nil }
      await waits.wait(at: .flow(flow))
    }
    return nil
  }

  func close(_ flow: UInt32, _ end: FlowEnd, on node: isolated NearbyNode) {
    machine.closeFlow(flow, end)
    _ = flows.removeUnread(of: flow)
    closed(flow, end)
    resumeReaders()
    pump(.bulk, on: node)
  }

  func ended(_ flow: UInt32, on node: isolated NearbyNode) async -> FlowEnd {
    while flows.contains(flow) {
      if let end = flows.end(of: flow) { return end }
      guard !Task.isCancelled else { break }
      await waits.wait(at: .flow(flow))
    }
    return .cancelled
  }
}
