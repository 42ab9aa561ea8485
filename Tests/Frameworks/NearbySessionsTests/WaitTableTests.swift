import Testing

@testable import NearbySessions

/// The waits of calls.
@Suite(.timeLimit(.minutes(1))) struct WaitTableTests {
  private actor Waits {
    private var table = WaitTable()
    private var ended: Set<Int> = []

    func wait(at place: WaitingPlace) async {
      let number = table.next()
      await withCheckedContinuation { table.add($0, number, at: place) }
      ended.insert(number)
    }

    func change(_ body: @Sendable (inout WaitTable) -> Void) { body(&table) }
    func count(at place: WaitingPlace? = nil) -> Int { place.map(table.count(at:)) ?? table.count }
    func hasEnded(_ numbers: Set<Int>) -> Bool { ended == numbers }
  }

  @Test("an event at a place ends the waits there, a cancellation the one of its number, each once")
  func ends() async throws {
    let waits = Waits()
    async let first: Void = waits.wait(at: .channels)
    try await until { await waits.count() == 1 }
    async let second: Void = waits.wait(at: .channels)
    try await until { await waits.count() == 2 }
    async let third: Void = waits.wait(at: .messages(1))
    try await until { await waits.count() == 3 }
    #expect(await waits.count(at: .channels) == 2)
    #expect(await waits.count(at: .messages(2)) == 0)

    // Of another place, or unknown.
    await waits.change {
      $0.end(3, at: .channels)
      $0.end(9, at: .messages(1))
      $0.endAll(at: .messages(2))
    }
    #expect(await waits.count() == 3)
    await waits.change {
      $0.end(1, at: .channels)
      $0.end(1, at: .channels)
    }
    await first
    #expect(await waits.hasEnded([1]))
    await waits.change {
      $0.endAll(at: .channels)
      $0.endAll(at: .channels)
    }
    await second
    #expect(await waits.hasEnded([1, 2]))
    #expect(await waits.count() == 1)
    await waits.change { $0.endAll(at: .messages(1)) }
    await third
    #expect(await waits.count() == 0)
  }
}
