import BlueZ
import CSystemd
import EventLoop
import Glibc
import Testing

@testable import bled_bluez

/// A bus that does not read.
struct BusQueueTests {
  private let loop: EventLoop
  private let bus: SystemBus
  /// The bus's side, which is not read.
  private let end: Int32

  init() throws {
    var ends: [Int32] = [-1, -1]
    try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
    var connection: OpaquePointer?
    try #require(sd_bus_new(&connection) >= 0)
    try #require(sd_bus_set_fd(connection, ends[0], ends[0]) >= 0)
    try #require(sd_bus_set_bus_client(connection, 1) >= 0)
    try #require(sd_bus_start(connection) >= 0)
    loop = try EventLoop()
    bus = try SystemBus(taking: try #require(connection), loop)
    end = ends[1]
  }

  private func signal(_ octets: Int = 0) {
    bus.signal("/org/bluez", "org.bluez.Test1", "Test", [.bytes(Array(repeating: 0, count: octets))], to: nil)
  }

  @Test func whatWaitsIsLimitedByItsNumber() {
    defer { close(end) }
    #expect(!bus.outbox.isCongested)
    for _ in 0...Backlog.many { signal() }
    #expect(bus.outbox.isCongested, "nothing new is to be taken from bled")
    #expect(bus.outbox.hasRoom(), "calls are still answered")
    for _ in 0...Backlog.maximum { signal() }
    #expect(!bus.outbox.hasRoom())
  }

  @Test func whatWaitsIsLimitedByItsSize() {
    defer { close(end) }
    for _ in 0..<16 { signal(1 << 20) }
    #expect(!bus.outbox.isCongested)
    #expect(!bus.outbox.hasRoom())
  }

  /// A program waits for others of its user with many unread messages and no calls: they are pinged when earlier pings
  /// have ended, also unanswered ones.
  @Test func theProgramsOfAUserAreAskedInTurn() {
    defer { close(end) }
    var questions: [(program: String, completion: (Bool) -> Void)] = []
    bus.outbox.ask = { questions.append(($0, $1)) }
    bus.outbox.user = { _ in 66 }
    func send(_ octets: Int, to program: String) {
      let value = BusValue.bytes(Array(repeating: 0, count: octets))
      bus.signal("/org/bluez", "org.bluez.Test1", "Test", [value], to: program)
    }
    let silent = (0..<UnreadMessages.maximumAskedOfUser).map { ":1.\($0)" }
    for program in silent { send(2 * UnreadMessages.asking, to: program) }
    let large = (0..<3).map { ":2.\($0)" }
    for program in large { send(UnreadMessages.maximumOfUser * 3 / 4, to: program) }
    #expect(questions.map(\.program) == silent)
    #expect(!bus.outbox.mayGoOn(":1.99"))
    for question in questions { question.completion(false) }
    for _ in 0..<100 where !bus.outbox.mayGoOn(":1.99") {
      guard let index = questions.lastIndex(where: { large.contains($0.program) }) else { break }
      questions.remove(at: index).completion(true)
    }
    #expect(bus.outbox.mayGoOn(":1.99"))
  }

  /// The end of the process does not wait for such a bus.
  @Test func theEndDoesNotWait() {
    for _ in 0...Backlog.many { signal() }
    bus.outbox.flush()
    close(end)
  }
}
