import BledClient
import FrameworkSupport
import NearbySessions

/// The connection to a session's peer: carries data, messages and streams in order, and reads events in sequence, so a
/// program that does not handle them stops the sender.
final class PeerLink: @unchecked Sendable {
  let connection: NearbyConnection
  let peer: PeerIdentity
  /// The connection's node; held as long as the link exists.
  let local: LocalNode
  private let outgoing = OutgoingQueue()
  /// The sockets for the program's streams.
  private let streams = Guarded<[ObjectIdentifier: BlockingSocket]>([:])
  /// For the reader alone: the peer's streams held by the program.
  private var received: [ReceivedStream] = []
  /// For the reader alone: data whose end was not received.
  private var partial: [UInt8] = []
  /// For the reader alone: streams and resources received before the greeting was complete.
  private var early: [NearbyEvent] = []

  /// Maximum open streams of the peer, and maximum events before the greeting is complete: each takes descriptors of
  /// this process.
  private static let streamLimit = 64
  /// Maximum octets of reassembled data.
  private static let longestData = 16 << 20

  init(_ connection: NearbyConnection, _ peer: PeerIdentity, at local: LocalNode) {
    (self.connection, self.peer, self.local) = (connection, peer, local)
  }

  /// Begins to read and to write.
  func start(_ engine: SessionEngine) {
    Task { [weak engine] in
      await read { [weak engine] in engine }
      close()
      engine?.ended(self)
    }
    Task { await writeMessages() }
    Task { await write() }
  }

  /// Puts data or a stream into the queue.
  /// - Returns: false if there is no room.
  func send(_ item: OutgoingQueue.Item) -> Bool { outgoing.add(item) }

  /// Sends a session's message, before all queued data.
  func send(_ message: SessionMessage) { _ = outgoing.add(message) }

  /// Ends the connection, and the program's streams. Any thread.
  func close() {
    outgoing.close()
    for stream in streams.with({ $0.values.map { $0 } }) { stream.close() }
    local.end(peer.identifier) { [connection] in await connection.disconnect() }
  }

  // MARK: Writing

  private func writeMessages() async {
    while let message = await outgoing.nextMessage() {
      // The reader is notified of the end.
      guard (try? await connection.sendWhenReady(message.encoded, isFirst: true)) != nil else { return }
    }
  }

  private func write() async {
    while let item = await outgoing.next() {
      do throws(BluetoothError) {
        switch item {
        case .data(let data): try await send(data)
        case .datagram(let data): await connection.sendDatagram(Array(data))
        case .stream(let socket, let name):
          // Without a flow the program's stream ends.
          if let flow = try? await connection.openStream(name) {
            carry(socket) { await Self.pump(socket, to: flow) }
          } else {
            socket.close()
          }
        }
      } catch {
        // The reader is notified of the end.
        return
      }
    }
  }

  private func send(_ data: Data) async throws(BluetoothError) {
    var rest = data
    while rest.count > SessionMessage.partLength {
      try await connection.sendWhenReady(SessionMessage.part(Array(rest.prefix(SessionMessage.partLength))).encoded)
      rest = rest.dropFirst(SessionMessage.partLength)
    }
    try await connection.sendWhenReady(SessionMessage.data(Array(rest)).encoded)
  }

  // MARK: Reading

  private func read(_ engine: @Sendable () -> SessionEngine?) async {
    while let event = await connection.next(), let engine = engine() {
      switch event {
      case .message(let octets):
        guard let message = SessionMessage(octets), await take(message, for: engine) else { return }
        while engine.isConnected(self), !early.isEmpty { await take(early.removeFirst(), for: engine) }
      case .datagram(let octets):
        if engine.isConnected(self) { await engine.report(.data(Data(octets), peer)) }
      case .stream, .resource:
        if engine.isConnected(self) {
          await take(event, for: engine)
        } else {
          guard early.count < Self.streamLimit else { return }
          early.append(event)
        }
      case .lost, .resumed: break
      case .ended: return
      }
    }
  }

  /// - Returns: true if the other side follows the protocol.
  private func take(_ message: SessionMessage, for engine: SessionEngine) async -> Bool {
    switch message {
    case .part(let octets):
      partial += octets
      return engine.isConnected(self) && partial.count <= Self.longestData
    case .data(let octets):
      guard engine.isConnected(self) else { return false }
      let data = Data(partial + octets)
      partial = []
      await engine.report(.data(data, peer))
    case .greeting(let greeting): engine.greeted(greeting, self)
    case .ready(let token): engine.ready(token, self)
    case .members(let members): engine.received(members, from: self)
    }
    return true
  }

  private func take(_ event: NearbyEvent, for engine: SessionEngine) async {
    switch event {
    case .stream(let flow, let name):
      received.removeAll { !$0.isOpen }
      guard received.count < Self.streamLimit else { return await flow.close(.tooMany) }
      guard let (stream, socket) = Self.inputStream() else { return await flow.close(.noRoom) }
      received.append(ReceivedStream(stream: stream))
      carry(socket) { await Self.pump(flow, to: socket) }
      await engine.report(.stream(stream, name: name, peer))
    case .resource(let flow, let offer):
      let progress = Progress(totalUnitCount: Int64(clamping: offer.size))
      await engine.report(.resourceStarted(offer.name, progress, peer))
      let received = Carried(progress)
      Task { [weak engine, peer] in
        await ResourceReceiving.receive(offer, from: flow, received.value) { result in
          await engine?.report(.resourceFinished(offer.name, result, peer))
        }
      }
    case .message, .datagram, .lost, .resumed, .ended: break
    }
  }

  // MARK: Streams

  private func carry(_ socket: BlockingSocket, _ pump: @escaping @Sendable () async -> Void) {
    streams.with { $0[ObjectIdentifier(socket)] = socket }
    Task {
      await pump()
      socket.close()
      streams.with { _ = $0.removeValue(forKey: ObjectIdentifier(socket)) }
    }
  }

  private static func pump(_ socket: BlockingSocket, to flow: OutgoingFlow) async {
    while let octets = await socket.read() {
      guard await flow.write(octets) else { return }
    }
    await flow.close(.finished)
  }

  private static func pump(_ flow: IncomingFlow, to socket: BlockingSocket) async {
    while let octets = await flow.read() {
      guard await socket.write(octets) else { return await flow.close(.cancelled) }
    }
  }

  /// A program's stream, and the socket behind it.
  static func outputStream() -> (OutputStream, BlockingSocket)? {
    BlockingSocket.pair().map { (ChannelOutputStream($0), $1) }
  }

  private static func inputStream() -> (ChannelInputStream, BlockingSocket)? {
    BlockingSocket.pair().map { (ChannelInputStream($0), $1) }
  }
}

/// A peer's stream passed to the program.
private struct ReceivedStream {
  weak var stream: ChannelInputStream?

  var isOpen: Bool { stream.map { $0.streamStatus != .closed } ?? false }
}

extension BlockingSocket {
  /// A socket pair, with one end for a program's stream.
  /// - Returns: nil if the process has no more descriptors.
  fileprivate static func pair() -> (program: DispatchSocket, own: BlockingSocket)? {
    var ends: [Int32] = [-1, -1]
    guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends) == 0 else { return nil }
    return (DispatchSocket(ends[0]), BlockingSocket(ends[1]))
  }
}
