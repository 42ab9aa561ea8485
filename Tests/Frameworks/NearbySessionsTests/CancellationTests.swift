import BledClient
import Foundation
import TestSupport
import Testing

@testable import NearbySessions

/// A call that is cancelled no longer waits, takes nothing from the next one, and does not affect others.
@Suite(.timeLimit(.minutes(10))) struct CancellationTests {
  /// Two nodes with a session.
  private struct Stage {
    let daemon: Daemon
    let nodes: [NearbyNode]
    let alice: NearbyConnection
    let bob: NearbyConnection

    init() async throws {
      let (daemon, alice, bob) = try await Nodes.pair()
      let ends = try await Nodes.connect(alice, bob)
      (self.daemon, nodes, self.alice, self.bob) = (daemon, [alice, bob], ends.alice, ends.bob)
    }
  }

  /// Begins a call, cancels it once it waits, and returns its result.
  private static func cancelled<Value: Sendable>(
    on node: NearbyNode, _ call: @escaping @Sendable () async -> Value
  ) async -> Value {
    let former = await node.waitCount
    let task = Task { await call() }
    while await node.waitCount == former { await Task.yield() }
    task.cancel()
    return await task.value
  }

  @Test("an event that comes after a cancelled call goes to the next one")
  func events() async throws {
    let stage = try await Stage()
    defer { withExtendedLifetime(stage) {} }
    let bob = stage.bob
    for _ in 0..<2 { #expect(await Self.cancelled(on: bob.node) { await bob.next() } == nil) }
    #expect(await bob.hasLink)
    let task = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      return await bob.next()
    }
    #expect(await task.value == nil)
    try await stage.alice.send([7])
    guard case .message([7])? = await bob.next() else { throw Nodes.Missing() }

    // The node may not have received the cancellation yet.
    let former = Task { await bob.next() }
    while await bob.node.waitCount == 0 { await Task.yield() }
    former.cancel()
    async let next = bob.next()
    try await stage.alice.send([8])
    guard case .message([8])? = await next else { throw Nodes.Missing() }
    #expect(await former.value == nil)
  }

  @Test("the calls of streams and resources end with their tasks, and go on with the next call")
  func flows() async throws {
    let stage = try await Stage()
    defer { withExtendedLifetime(stage) {} }
    let (alice, bob) = (stage.alice, stage.bob)
    let stream = try await alice.openStream("s")
    guard case .stream(let incoming, "s")? = await bob.next() else { throw Nodes.Missing() }
    #expect(await Self.cancelled(on: bob.node) { await incoming.read() } == nil)
    #expect(await Self.cancelled(on: bob.node) { await incoming.ended() } == .cancelled)
    #expect(await stream.write([1, 2, 3]))
    #expect(await incoming.read() == [1, 2, 3])

    // No program reads: there is eventually no room.
    #expect(await !Self.cancelled(on: alice.node) { await stream.write([UInt8](repeating: 0, count: 4 << 20)) })
    #expect(await Self.cancelled(on: alice.node) { await stream.room() } == nil)
    await stream.close()
    while await incoming.read() != nil {}
    #expect(await incoming.ended() == .finished)

    let offered = try await alice.offer(.init(name: "r", size: 1, hash: [UInt8](repeating: 1, count: 32)))
    guard case .resource(let resource, _)? = await bob.next() else { throw Nodes.Missing() }
    #expect(await Self.cancelled(on: alice.node) { await offered.accepted() } == nil)
    await resource.accept(from: 1)
    #expect(await offered.accepted() == 1)
  }

  @Test("a message that waits for room is not sent if its task is cancelled")
  func messages() async throws {
    let stage = try await Stage()
    defer { withExtendedLifetime(stage) {} }
    let (alice, longest) = (stage.alice, [UInt8](repeating: 0, count: 1 << 19))
    let sending = await Self.cancelled(on: alice.node) { () -> BluetoothError? in
      do throws(BluetoothError) {
        while true { try await alice.sendWhenReady(longest) }
      } catch {
        return error
      }
    }
    #expect(sending?.name == "cancelled")
    #expect(await alice.hasLink)
  }

  @Test("a file whose transfer is cancelled on one side ends on the other one", arguments: [true, false])
  func files(_ cancelsSender: Bool) async throws {
    let stage = try await Stage()
    defer { withExtendedLifetime(stage) {} }
    let folder = try TemporaryFolder()
    let file = FileResource(path: "\(folder.path)/f")
    try Data(repeating: 3, count: 1000).write(to: URL(fileURLWithPath: file.path))
    let offer = try file.offer()
    let outgoing = try await stage.alice.offer(offer)
    guard case .resource(let incoming, offer)? = await stage.bob.next() else { throw Nodes.Missing() }
    defer { withExtendedLifetime(folder) {} }
    if cancelsSender {
      #expect(
        try await Self.cancelled(on: stage.alice.node) {
          await Result { try await file.send(offer, over: outgoing) }
        }.get() == .cancelled)
      #expect(await incoming.ended() == .cancelled)
    } else {
      let into = folder.path + "/into"
      try FileManager.default.createDirectory(atPath: into, withIntermediateDirectories: false)
      let end = try await Self.cancelled(on: stage.bob.node) {
        await Result { try await FileResource.receive(offer, from: incoming, into: into).end }
      }.get()
      #expect(end == .cancelled)
      #expect(await outgoing.ended() == .cancelled)
    }
  }

  @Test("a sender of more than it has offered is answered, and nothing is kept")
  func tooMuch() async throws {
    let stage = try await Stage()
    defer { withExtendedLifetime(stage) {} }
    let folder = try TemporaryFolder()
    let offer = ResourceOffer(name: "f", size: 3, hash: [UInt8](repeating: 1, count: 32))
    let outgoing = try await stage.alice.offer(offer)
    guard case .resource(let incoming, offer)? = await stage.bob.next() else { throw Nodes.Missing() }
    async let received = FileResource.receive(offer, from: incoming, into: folder.path)
    #expect(await outgoing.accepted() == 0)
    #expect(await outgoing.write([1, 2, 3, 4]))
    #expect(await outgoing.ended() == .damaged)
    let (end, path) = try await received
    #expect(end == .damaged && path == nil)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
  }

  @Test("a session ends with its last reference, whatever the peer has opened that was not fetched")
  func release() async throws {
    let (daemon, alice, bob) = try await Nodes.pair()
    defer { withExtendedLifetime((daemon, bob)) {} }
    func streams() async throws -> NearbyConnection {
      let ends = try await Nodes.connect(alice, bob)
      let stream = try await ends.alice.openStream("s")
      try await ends.alice.send([1])
      // Queued behind the stream's opening or before it: the reader takes one event at most.
      while await ends.bob.node.queued(ends.bob.number) < 2 { await Task.yield() }
      withExtendedLifetime(stream) {}
      return ends.alice
    }
    let left = try await streams()
    var end: NearbyEnd?
    while let event = await left.next() { if case .ended(let reason) = event { end = reason } }
    #expect(end == .byPeer)
  }

  @Test("a folder without links has files under names of their own, too")
  func noLinks() throws {
    let folder = try TemporaryFolder()
    func name() throws -> String {
      let partial = "\(folder.path)/part"
      try Data([1]).write(to: URL(fileURLWithPath: partial))
      let path = try FileResource.named(partial, folder.path, "a.txt") { _, _ in
        errno = EPERM
        return -1
      }
      #expect(!FileManager.default.fileExists(atPath: partial))
      #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == Data([1]))
      return String(path.dropFirst(folder.path.utf8.count + 1))
    }
    #expect(try name() == "a.txt")
    #expect(try name() != "a.txt")
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).count == 2)
  }
}

/// A folder removed with its last reference.
private final class TemporaryFolder {
  let path = NSTemporaryDirectory() + "/bled-\(UUID().uuidString)"

  init() throws { try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false) }

  deinit { try? FileManager.default.removeItem(atPath: path) }
}

extension NearbyNode {
  /// The number of waiting calls of the program.
  fileprivate var waitCount: Int {
    sessions.values.reduce(0) { count, session in
      count + session.waits.count - Frame.Lane.allCases.reduce(0) { $0 + session.waits.count(at: .reading($1)) }
    }
  }

  /// The number of a session's unfetched events.
  fileprivate func queued(_ number: Int) -> Int { sessions[number]?.events.count ?? 0 }
}

extension Result where Failure == any Error {
  fileprivate init(_ body: () async throws -> Success) async {
    do { self = .success(try await body()) } catch { self = .failure(error) }
  }
}
