import BledClient
import Dispatch
import Glibc
import NearbySessions

/// Two nodes with a session, and their clients.
struct Pair {
  private let sender: BledClient, receiver: BledClient
  private let nodes: [NearbyNode]
  private let peer: FoundPeer
  private let from: NearbyConnection, to: NearbyConnection
  private let adapters: (from: String, to: String)

  init(_ socket: String, _ from: String, _ to: String) async throws {
    guard let type = ServiceType("bled-load") else { throw Failure("the service type is malformed") }
    sender = try await .connect(to: socket)
    receiver = try await .connect(to: socket)
    var settings = (NearbySettings(type: type, name: "from"), NearbySettings(type: type, name: "to"))
    (settings.0.adapter, settings.1.adapter) = (from, to)
    let first = try NearbyNode(client: sender, settings: settings.0)
    let second = try NearbyNode(client: receiver, settings: settings.1)
    try await second.advertise()
    guard let peer = try await Self.find(by: first) else { throw Failure("the peer was not found") }
    let accepting = Task { () -> NearbyConnection? in
      for await invitation in second.invitations {
        await invitation.answer(true)
        return invitation.connection
      }
      return nil
    }
    self.from = try await first.invite(peer)
    guard let accepted = await accepting.value else { throw Failure("the invitation did not arrive") }
    (nodes, self.peer, self.to, adapters) = ([first, second], peer, accepted, (from, to))
  }

  private static func find(by node: NearbyNode) async throws -> FoundPeer? {
    for try await case .found(let peer) in try await node.browse() { return peer }
    return nil
  }

  func stop() async { for node in nodes { await node.stop() } }

  /// Messages a second.
  func nearby(messages: Int, of length: Int) async throws -> Double {
    let message = [UInt8](repeating: 7, count: length)
    return try await rate(of: messages) {
      for _ in 0..<messages { try await from.sendWhenReady(message) }
    } receive: {
      var left = messages
      while left > 0, let event = await to.next() { if case .message = event { left -= 1 } }
    }
  }

  /// Octets a second.
  func nearbyStream(_ octets: Int) async throws -> Double {
    let piece = [UInt8](repeating: 7, count: 32 << 10)
    return try await rate(of: octets) {
      let stream = try await from.openStream("load")
      for _ in 0..<octets / piece.count { guard await stream.write(piece) else { return } }
      await stream.close()
    } receive: {
      while let event = await to.next() {
        guard case .stream(let stream, _) = event else { continue }
        while await stream.read() != nil {}
        return
      }
    }
  }

  /// Octets a second of a file, from the offer on: the sender has read it before, for its hash.
  func nearbyFile(_ file: String, of octets: Int, into folder: String) async throws -> Double {
    let resource = FileResource(path: file)
    let offer = try resource.offer()
    return try await rate(of: octets) {
      _ = try await resource.send(offer, over: try await from.offer(offer))
    } receive: {
      while let event = await to.next() {
        guard case .resource(let flow, let offer) = event else { continue }
        _ = try? await FileResource.receive(offer, from: flow, into: folder)
        return
      }
    }
  }

  /// SDUs a second.
  func bare(messages: Int, of length: Int) async throws -> Double {
    try await bare(packets: true, pieces: messages, of: length) { Double(messages) / $0 }
  }

  /// Octets a second.
  func bareStream(_ octets: Int) async throws -> Double {
    try await bare(packets: false, pieces: octets >> 15, of: 32 << 10) { Double(octets) / $0 }
  }

  private func bare(
    packets: Bool, pieces: Int, of length: Int, _ rate: (Double) -> Double
  ) async throws -> Double {
    let incoming = receiver.notifications(L2CAPIncoming.self)
    let published = try await receiver.publishL2CAPChannel(adapter: adapters.to)
    let accepting = Task { () -> Int32? in
      for try await offered in incoming where offered.psm == published.psm {
        return try await receiver.accept(offered, packets: packets).takeDescriptor()
      }
      return nil
    }
    let link = try await sender.connect(.identifier(peer.peripheral), adapter: adapters.from)
    let channel = try await link.openL2CAPChannel(psm: published.psm, packets: packets)
    guard let output = channel.takeDescriptor(), let input = try await accepting.value else {
      throw Failure("the channel was not opened")
    }
    let octets = pieces * length
    let seconds = try await seconds {
      await onThread {
        let piece = [UInt8](repeating: 7, count: length)
        for _ in 0..<pieces {
          var rest = piece[...]
          while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.send(output, $0.baseAddress, $0.count, 0) }
            guard count > 0 else { return }
            rest = rest.dropFirst(count)
          }
        }
      }
    } receive: {
      await onThread {
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        var left = octets
        while left > 0 {
          let count = recv(input, &buffer, buffer.count, 0)
          guard count > 0 else { return }
          left -= count
        }
      }
    }
    close(output)
    close(input)
    try await receiver.unpublishL2CAPChannel(published.psm, adapter: published.adapter)
    return rate(seconds)
  }

  private func rate(
    of count: Int, send: @escaping @Sendable () async throws -> Void, receive: @escaping @Sendable () async -> Void
  ) async throws -> Double {
    Double(count) / (try await seconds(send: send, receive: receive))
  }

  /// The time until all has been received.
  private func seconds(
    send: @escaping @Sendable () async throws -> Void, receive: @escaping @Sendable () async -> Void
  ) async throws -> Double {
    let began = ContinuousClock.now
    let sending = Task { try await send() }
    await receive()
    let time = began.duration(to: .now)
    try await sending.value
    return time / .seconds(1)
  }
}

private func onThread(_ body: @escaping @Sendable () -> Void) async {
  await withCheckedContinuation { continuation in
    DispatchQueue(label: "nearby-load").async {
      body()
      continuation.resume()
    }
  }
}
