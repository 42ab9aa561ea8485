import Testing

@testable import BlueZ

/// Refused calls with answers that wait for the caller's user.
struct RefusalsTests {
  private final class Calls {
    private var refusals = Refusals()

    func begin(_ program: String) -> Bool { refusals.begin(program) }

    func add(_ number: UInt64, _ sender: String = ":1.1") -> Bool {
      let call = BusCall(
        number: number, sender: sender, path: "/", interface: nil, member: "Ping", arguments: [.byte(1)])
      return refusals.add(call, .noReply)
    }

    func end(_ program: String) -> [BusCall] { refusals.end(program).map(\.call) }
  }

  private let calls = Calls()

  @Test func theBusIsAskedOnce() {
    #expect(calls.begin(":1.1"))
    #expect(!calls.begin(":1.1"))
    #expect(calls.end(":1.1").isEmpty)
    #expect(calls.begin(":1.1"), "it may be asked again")
  }

  @Test func refusedCallsWaitWithoutTheirArguments() {
    #expect(!calls.add(1), "the bus was not asked")
    #expect(calls.begin(":1.1") && calls.begin(":1.2"))
    for number in 1...UInt64(Refusals.maximum) { #expect(calls.add(number)) }
    #expect(!calls.add(0))
    #expect(calls.add(7, ":1.2"))
    let ended = calls.end(":1.1")
    #expect(ended.map(\.number) == Array(1...UInt64(Refusals.maximum)))
    #expect(ended.allSatisfy { $0.arguments.isEmpty })
    #expect(calls.end(":1.2").map(\.number) == [7])
  }
}
