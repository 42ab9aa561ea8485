import BledClient

/// A session with one peer. It ends with `disconnect`, and when its last reference is released.
public final class NearbyConnection: Sendable {
  /// The peer's identifier.
  public let identifier: UInt64
  /// The peer's name, without control characters.
  public let name: String
  /// The peer's public key: constant for a peer.
  public let key: [UInt8]
  /// Six digits, equal at both sides without a third one in between: people compare them.
  public let code: String
  let node: NearbyNode
  let number: Int

  init(node: NearbyNode, number: Int, identifier: UInt64, name: String, key: [UInt8], code: String) {
    self.node = node
    self.number = number
    self.identifier = identifier
    self.name = name
    self.key = key
    self.code = code
  }

  deinit { Task { [node, number] in await node.end(number, .byUs) } }

  /// True if there is a link to the peer now. A session without one may return.
  public var hasLink: Bool { get async { await node.hasLink(number) } }

  /// The next event; nil behind `ended`, and when the task is cancelled: the event is left for the next call then. For
  /// one reader: as long as it does not read, the other side waits.
  public func next() async -> NearbyEvent? { await node.nextEvent(of: number, for: self) }

  /// Sends a message: it arrives once and in order, or the session ends.
  /// - Parameter message: 0 to 1,048,576 octets.
  /// - Throws: `BledError.limitReached` while 1 MiB waits for the other side; `.invalidParameter` for a message that is
  ///   too long; `GAPError.notConnected`.
  public func send(_ message: [UInt8]) async throws(BluetoothError) { try await node.send(message, to: number) }

  /// Sends a message, as soon as less than 1 MiB waits to be received by the other side. Messages of several callers
  /// may overtake each other.
  /// - Parameter isFirst: true to overtake the queued messages, with 256 KiB more room; several such messages keep
  ///   their order.
  /// - Throws: as `send`, but for `BledError.limitReached`; `GAPError.cancelled` if the task was cancelled before.
  public func sendWhenReady(_ message: [UInt8], isFirst: Bool = false) async throws(BluetoothError) {
    try await node.sendWhenReady(message, to: number, isFirst: isFirst)
  }

  /// Sends a datagram at once, or drops it if there is no link or something is waiting to be sent.
  /// - Returns: true if it was sent.
  @discardableResult
  public func sendDatagram(_ octets: [UInt8]) async -> Bool { await node.sendDatagram(octets, to: number) }

  /// Opens a stream to the peer.
  /// - Parameter name: at most 255 octets of UTF-8.
  /// - Throws: `BledError.limitReached` if 32 are open; `GAPError.notConnected`.
  public func openStream(_ name: String) async throws(BluetoothError) -> OutgoingFlow {
    try await node.open(name: name, offer: nil, to: number)
  }

  /// Offers a resource; its octets are sent once the peer has accepted it.
  /// - Throws: as `openStream`.
  public func offer(_ offer: ResourceOffer) async throws(BluetoothError) -> OutgoingFlow {
    try await node.open(name: offer.name, offer: offer, to: number)
  }

  /// Ends the session; messages not received by the peer are lost.
  public func disconnect() async { await node.end(number, .byUs) }
}

/// A session's event.
public enum NearbyEvent: Sendable {
  /// A message.
  case message([UInt8])
  /// A datagram.
  case datagram([UInt8])
  /// The peer opened a stream with this name.
  case stream(IncomingFlow, name: String)
  /// The peer offers a resource.
  case resource(IncomingFlow, ResourceOffer)
  /// The link is lost; it may be restored.
  case lost
  /// The link is back.
  case resumed
  /// The end, the last event.
  case ended(NearbyEnd)
}

/// A peer's invitation.
public struct NearbyInvitation: Sendable {
  /// The possible session.
  public let connection: NearbyConnection
  /// The octets sent with it by the peer, at most 66 KiB.
  public let context: [UInt8]

  /// Answers. Only the first answer counts, and none behind the invitation's timeout.
  /// - Returns: true if the session is connected.
  @discardableResult
  public func answer(_ accepts: Bool) async -> Bool { await connection.node.answer(connection.number, accepts) }
}

/// A stream or resource to the peer. A call whose task is cancelled no longer waits, and the flow stays: `close` ends
/// it.
public struct OutgoingFlow: Sendable {
  let connection: NearbyConnection
  let flow: UInt32

  /// Waits until the peer has accepted a resource.
  /// - Returns: the first octet the peer wants; nil if it declines, or the task was cancelled.
  public func accepted() async -> UInt64? { await connection.node.accepted(flow, of: connection.number) }

  /// The octets that can be sent now, at most 16 KiB; waits until there are some.
  /// - Returns: nil if the flow has ended, or the task was cancelled.
  public func room() async -> Int? { await connection.node.room(flow, of: connection.number) }

  /// Sends octets, as soon as there is room.
  /// - Returns: false if the flow has ended, or the task was cancelled: then a part of them may have been sent.
  public func write(_ octets: [UInt8]) async -> Bool {
    await connection.node.write(octets, flow, of: connection.number)
  }

  /// Ends it: a stream as finished, a resource before its end as cancelled.
  public func close(_ end: FlowEnd = .finished) async { await connection.node.close(flow, end, of: connection.number) }

  /// Waits for the end; `cancelled` if the task is cancelled before.
  public func ended() async -> FlowEnd { await connection.node.ended(flow, of: connection.number) }
}

/// A stream or resource from the peer. A call whose task is cancelled no longer waits, and the flow stays: `close` ends
/// it.
public struct IncomingFlow: Sendable {
  let connection: NearbyConnection
  let flow: UInt32

  /// Accepts a resource, from this octet on.
  public func accept(from offset: UInt64 = 0) async {
    await connection.node.accept(flow, offset, of: connection.number)
  }

  /// The next octets, at most 64 KiB: all available ones; nil at the end, and when the task is cancelled, which leaves
  /// them to the next call. Until they are read, the peer waits with this flow.
  public func read() async -> [UInt8]? { await connection.node.read(flow, of: connection.number) }

  /// Ends it: a complete resource as finished.
  public func close(_ end: FlowEnd) async { await connection.node.close(flow, end, of: connection.number) }

  /// How it has ended, after `read` gave nil; `cancelled` if the task is cancelled before its end.
  public func ended() async -> FlowEnd { await connection.node.ended(flow, of: connection.number) }
}
