import Adapter
import BledRPC
import Bluetooth
import GATT
import Testing

@testable import BledCore

/// Enhanced ATT bearers that a device opens for requests to us.
@Suite struct ServedBearerTests: ServerSuite {
  let stage: ServerStage

  init() throws { stage = try ServerStage(.init(name: "bled test", hasEnhancedBearers: true)) }

  /// The phone opens a channel on a link that is encrypted, or not.
  private func open(level: Int = 2, mode: ChannelMode = .enhanced) -> ScriptedChannel {
    let channel = ScriptedChannel(0x27, mode)
    if link.security.level != level { link.protect(LinkSecurity(level: level, keySize: level > 1 ? 16 : 0)) }
    link.onEvent?(.channel(channel))
    return channel
  }

  private func read(_ handle: UInt16) -> ChannelEvent { .received([0x0A, UInt8(handle & 0xFF), UInt8(handle >> 8)]) }

  @Test("Server Supported Features tell of them, and the adapter listens on encrypted links; without them neither")
  func told() throws {
    #expect(world.adapter.published[0x27] == ChannelParameters(receiveMTU: 517, level: 2, mode: .enhanced))
    let own = world.daemon.links.database.attributes.services.flatMap(\.characteristics)
    let features = try #require(own.first { $0.uuid == 0x2B3A })
    #expect(phone(.read(features.valueHandle)) == .success(.value([1])))
    let without = World()
    #expect(without.adapter.published.isEmpty)
    let others = without.daemon.links.database.attributes.services.flatMap(\.characteristics)
    #expect(!others.contains { $0.uuid == 0x2B3A })
  }

  @Test("A program is asked for each bearer at once, and answers in any order")
  func atOnce() throws {
    let (first, second) = (open(), open())
    #expect(first.isReading && second.isReading)
    first.onEvent?(read(asked))
    second.onEvent?(read(asked))
    first.onEvent?(.received([0x1B, 3, 0, 1]))
    let questions = try client.calls(ServerRead.self)
    #expect(questions.count == 2)
    try client.answer(questions[1].id, ServerRead.Result(value: HexBytes([2])))
    #expect(first.sent.isEmpty && second.sent == [[0x0B, 2]])
    second.onEvent?(read(fixed))
    #expect(second.sent.last == [0x0B, 1])
    try client.answer(questions[0].id, ServerRead.Result(value: HexBytes([1])))
    #expect(first.sent == [[0x0B, 1]])
  }

  @Test("What is asked on a bearer that ends is not awaited any more; the others stay")
  func ends() throws {
    let (first, second) = (open(), open())
    first.onEvent?(read(asked))
    second.onEvent?(read(asked))
    first.onEvent?(.ended(GAPError.disconnected.error("closed")))
    let questions = try client.calls(ServerRead.self)
    try client.answer(questions[0].id, ServerRead.Result(value: HexBytes([1])))
    try client.answer(questions[1].id, ServerRead.Result(value: HexBytes([2])))
    #expect(first.sent.isEmpty && second.sent == [[0x0B, 2]] && !link.wasDisconnected)
  }

  @Test("All that wait for a program are refused when its session ends")
  func sessionEnds() throws {
    let (first, second) = (open(), open())
    first.onEvent?(read(asked))
    second.onEvent?(read(asked))
    client.die()
    let refusal = [0x01, 0x0A, UInt8(asked & 0xFF), UInt8(asked >> 8), 0x0E] as [UInt8]
    #expect(first.sent == [refusal] && second.sent == [refusal])
  }

  @Test("Without encryption, in the other mode, and beyond five they are closed")
  func refused() {
    #expect(open(level: 1).isClosed)
    #expect(open(mode: .leCreditBased).isClosed)
    for _ in 0..<5 { #expect(!open().isClosed) }
    #expect(open().isClosed)
  }

  @Test("We ask nothing on them")
  func notUsed() throws {
    _ = open()
    let parameters = try client.result(PeripheralParameters.self, .init(peripheral: phoneIdentifier))
    #expect(parameters.bearers == nil)
  }

  private var phoneIdentifier: String { world.daemon.links.links.first?.peripheral.id ?? "" }
}
