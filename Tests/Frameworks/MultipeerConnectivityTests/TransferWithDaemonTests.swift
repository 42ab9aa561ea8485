import DaemonTestSupport
import FrameworkSupport
@testable import MultipeerConnectivity
import TestSupport
import Testing

/// Resources and streams.
@Suite(.timeLimit(.minutes(10))) struct TransferWithDaemonTests {
  private static func octets(_ count: Int) -> Data {
    Data((0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) })
  }

  /// The outcome of a resource: the number of the handler's calls, and their arguments.
  private final class Outcome: @unchecked Sendable {
    private let lock = NSLock()
    private var outcomes: [MCError?] = []
    var all: [MCError?] { lock.withLock { outcomes } }
    func add(_ error: (any Error)?) { lock.withLock { outcomes.append(error as? MCError) } }
  }

  @Test("a file arrives under a temporary name, which is gone when the delegate returns")
  func resource() async throws {
    let daemon = try await Daemon(adapters: 2)
    let (alice, bob) = try await Party.connected(daemon)
    let (file, contents) = (daemon.folder.appendingPathComponent("source"), Self.octets(200_000))
    try contents.write(to: file)
    let outcome = Outcome()
    let progress = try #require(
      bob.session.sendResource(at: file, withName: "a/b.bin", toPeer: alice.peer) { outcome.add($0) })
    #expect(progress.totalUnitCount == 200_000)
    try await until { !outcome.all.isEmpty && alice.read { !$0.finished.isEmpty } }
    #expect(outcome.all.count == 1 && outcome.all[0] == nil)
    #expect(progress.completedUnitCount == 200_000 && progress.isFinished)
    let finished = try #require(alice.read { $0.finished.first })
    #expect(finished.name == "a/b.bin" && finished.contents == contents && finished.error == nil)
    let url = try #require(finished.url)
    try await until { !FileManager.default.fileExists(atPath: url.deletingLastPathComponent().path) }
    #expect(alice.read { $0.started.map(\.name) } == ["a/b.bin"])
    #expect(alice.read { $0.started.first?.progress.completedUnitCount } == 200_000)
  }

  @Test("either side cancels a resource, and both are told", arguments: [true, false])
  func cancelled(bySender: Bool) async throws {
    let daemon = try await Daemon(adapters: 2)
    let (alice, bob) = try await Party.connected(daemon)
    let file = daemon.folder.appendingPathComponent("source")
    try Self.octets(4_000_000).write(to: file)
    let outcome = Outcome()
    let progress = try #require(
      alice.session.sendResource(at: file, withName: "big", toPeer: bob.peer) { outcome.add($0) })
    try await until { bob.read { !$0.started.isEmpty } }
    if bySender { progress.cancel() } else { bob.read { $0.started[0].progress }.cancel() }
    try await until { !outcome.all.isEmpty && bob.read { !$0.finished.isEmpty } }
    #expect(outcome.all.map { $0?.code } == [.cancelled])
    let finished = try #require(bob.read { $0.finished.first })
    #expect(finished.error?.code == .cancelled && finished.url == nil)
    // The session continues.
    try alice.session.send(Data([1]), toPeers: [bob.peer], with: .reliable)
    try await until { bob.read { $0.data } == [Data([1])] }
  }

  @Test("what cannot be sent is told once: a web page, a folder, a file that is not there, a peer that is not")
  func refused() async throws {
    let daemon = try await Daemon(adapters: 2)
    let (alice, bob) = try await Party.connected(daemon)
    let web = try #require(URL(string: "https://example.com/a"))
    let missing = daemon.folder.appendingPathComponent("missing")
    let cases: [(URL, MCPeerID, MCError.Code)] = [
      (web, bob.peer, .unsupported), (daemon.folder, bob.peer, .invalidParameter),
      (missing, bob.peer, .invalidParameter), (missing, MCPeerID(displayName: "Nobody"), .notConnected),
    ]
    for (url, peer, code) in cases {
      let outcome = Outcome()
      #expect(alice.session.sendResource(at: url, withName: "a", toPeer: peer) { outcome.add($0) } == nil)
      try await until { !outcome.all.isEmpty }
      #expect(outcome.all.map { $0?.code } == [code])
    }
    #expect(throws: MCError.self) { try alice.session.startStream(withName: "", toPeer: bob.peer) }
    #expect(throws: MCError.self) { try alice.session.send(Data(), toPeers: [], with: .reliable) }
  }

  @Test("a stream carries octets in both directions' own time, and its end")
  func streams() async throws {
    let daemon = try await Daemon(adapters: 2)
    let (alice, bob) = try await Party.connected(daemon)
    let sent = Self.octets(300_000)
    let output = Carried(try alice.session.startStream(withName: "numbers", toPeer: bob.peer))
    let back = Carried(try bob.session.startStream(withName: "back", toPeer: alice.peer))
    async let isWritten = onThread { Self.write(sent, to: output.value) }
    try await until { bob.read { !$0.streams.isEmpty } && alice.read { !$0.streams.isEmpty } }
    #expect(bob.read { $0.streams[0].name } == "numbers" && alice.read { $0.streams[0].name } == "back")
    let input = Carried(bob.read { $0.streams[0].stream })
    #expect(await onThread { Self.readAll(input.value) } == sent)
    #expect(await isWritten)
    // A stream ends with its session.
    let open = Carried(alice.read { $0.streams[0].stream })
    async let rest = onThread { Self.readAll(open.value) }
    #expect(await onThread { Self.write(Data([7]), to: back.value, closes: false) })
    alice.session.disconnect()
    #expect(await rest.count <= 1)
    withExtendedLifetime(back) {}
  }

  /// Reads a stream in a run loop, to its end.
  private final class Reader: NSObject, StreamDelegate {
    private(set) var data = Data()
    private(set) var hasEnded = false

    func run(_ stream: InputStream) {
      stream.delegate = self
      stream.schedule(in: .current, forMode: .default)
      stream.open()
      // Real time: the events are timers of the loop, for which it does not return.
      while !hasEnded { RunLoop.current.run(until: Date(timeIntervalSinceNow: 0.05)) }
      stream.close()
    }

    func stream(_ stream: Stream, handle event: Stream.Event) {
      switch event {
      case .hasBytesAvailable:
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = (stream as? InputStream)?.read(&buffer, maxLength: buffer.count) ?? 0
        data += buffer.prefix(max(0, count))
      case .endEncountered, .errorOccurred: hasEnded = true
      default: break
      }
    }
  }

  @Test("a stream tells a run loop of its octets and its end, however fast they come")
  func runLoop() async throws {
    let daemon = try await Daemon(adapters: 2)
    let (alice, bob) = try await Party.connected(daemon)
    let sent = Self.octets(100_000)
    let output = Carried(try alice.session.startStream(withName: "numbers", toPeer: bob.peer))
    async let isWritten = onThread { Self.write(sent, to: output.value) }
    try await until { bob.read { !$0.streams.isEmpty } }
    let input = Carried(bob.read { $0.streams[0].stream })
    let received = await onThread {
      let reader = Reader()
      reader.run(input.value)
      return reader.data
    }
    #expect(received == sent)
    #expect(await isWritten)
  }

  private static func write(_ data: Data, to stream: OutputStream, closes: Bool = true) -> Bool {
    stream.open()
    defer { if closes { stream.close() } }
    var rest = Array(data)[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBufferPointer { octets in
        octets.baseAddress.map { stream.write($0, maxLength: octets.count) } ?? 0
      }
      guard count > 0 else { return false }
      rest = rest.dropFirst(count)
    }
    return true
  }

  private static func readAll(_ stream: InputStream) -> Data {
    stream.open()
    defer { stream.close() }
    var data = Data()
    var buffer = [UInt8](repeating: 0, count: 4096)
    while case let count = stream.read(&buffer, maxLength: buffer.count), count > 0 { data += buffer.prefix(count) }
    return data
  }
}
