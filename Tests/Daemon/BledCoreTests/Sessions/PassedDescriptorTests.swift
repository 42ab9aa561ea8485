import BledRPC
import EventLoop
import FoundationEssentials
import Glibc
import Testing

@testable import BledCore

/// Descriptors that go to a client, over a real socket pair.
@Suite struct PassedDescriptorTests {
  /// A pipe with a writing end to pass.
  private struct Passed {
    let reading: Int32
    let descriptor: PassedDescriptor

    init() throws {
      var ends: [Int32] = [-1, -1]
      try #require(pipe(&ends) == 0)
      reading = ends[0]
      descriptor = PassedDescriptor(ends[1])
    }
  }

  /// True if the writing end of this pipe is closed.
  private func isClosed(_ reading: Int32) -> Bool {
    var waiting = pollfd(fd: reading, events: Int16(POLLIN), revents: 0)
    return poll(&waiting, 1, 0) == 1 && waiting.revents & Int16(POLLHUP) != 0
  }

  private static let line = #"{"jsonrpc":"2.0","method":"server.ready","params":{}}"# + "\n"

  @Test("The line that carries a descriptor is written alone: what one call reads ends within that line")
  func alone() throws {
    let wire = try Wire()
    let reading = try {
      let passed = try Passed()
      wire.session.send(ServerReady.self, Empty())
      wire.session.send(ServerReady.self, Empty(), with: passed.descriptor)
      wire.session.send(ServerReady.self, Empty())
      return passed.reading
    }()
    defer { close(reading) }
    try wire.settle()
    // The kernel joins octets sent before, and none that were sent after.
    let (text, descriptor) = try wire.read()
    #expect(text == Self.line + Self.line)
    let received = try #require(descriptor)
    #expect(write(received, "x", 1) == 1)
    var octet: UInt8 = 0
    #expect(Glibc.read(reading, &octet, 1) == 1 && octet == UInt8(ascii: "x"))
    close(received)
    #expect(Glibc.read(reading, &octet, 1) == 0, "the daemon has kept no duplicate")
    let next = try wire.read()
    #expect(next.text == Self.line && next.descriptor == nil)
  }

  @Test("A line that does not fit into the socket passes its descriptor once, with its first octet")
  func cut() throws {
    let wire = try Wire()
    let (first, second) = (try Passed(), try Passed())
    defer { for passed in [first, second] { close(passed.reading) } }
    // More than the kernel's buffers hold.
    let long = String(repeating: "n", count: 900_000) + "\n"
    wire.session.send(Data(long.utf8), as: .event, with: first.descriptor)
    wire.session.send(Data(Self.line.utf8), as: .event, with: second.descriptor)
    var text = ""
    var ends: [Int] = []
    while text.utf8.count < long.utf8.count + Self.line.utf8.count {
      try wire.settle()
      let (part, descriptor) = try wire.read(upTo: 10_000)
      try #require(!part.isEmpty)
      text += part
      if let descriptor {
        ends.append(text.utf8.count - 1)
        close(descriptor)
      }
    }
    #expect(text == long + Self.line)
    #expect(ends.count == 2 && ends[0] < long.utf8.count && ends[1] >= long.utf8.count, "\(ends)")
  }

  @Test("A descriptor is closed when the client leaves before it was sent, or has left")
  func unsent() throws {
    let wire = try Wire()
    let readings = try {
      let (waiting, late) = (try Passed(), try Passed())
      wire.session.send(ServerReady.self, Empty(), with: waiting.descriptor)
      wire.disconnect()
      wire.session.send(ServerReady.self, Empty(), with: late.descriptor)
      return [waiting, late].map { $0.reading }
    }()
    try wire.settle()
    for reading in readings {
      #expect(isClosed(reading))
      close(reading)
    }
  }

  @Test("No more than sixteen wait, and a program that passes another is told so")
  func bound() throws {
    let wire = try Wire()
    var readings: [Int32] = []
    defer { for reading in readings { close(reading) } }
    for _ in 0..<16 {
      try wire.session.admitDescriptor()
      let passed = try Passed()
      readings.append(passed.reading)
      wire.session.send(ServerReady.self, Empty(), with: passed.descriptor)
    }
    let refusal = #expect(throws: (any Error).self) { try wire.session.admitDescriptor() }
    #expect("\(try #require(refusal))".contains("16 descriptors wait"))
    try wire.settle()
    try wire.session.admitDescriptor()
  }

  @Test("Those that were sent and not read count for the user, until the client has read them")
  func unread() throws {
    let wire = try Wire()
    var readings: [Int32] = []
    defer { for reading in readings { close(reading) } }
    for _ in 0..<64 {
      try wire.session.admitDescriptor()
      let passed = try Passed()
      readings.append(passed.reading)
      wire.session.send(ServerReady.self, Empty(), with: passed.descriptor)
      try wire.settle()
    }
    let refusal = #expect(throws: (any Error).self) { try wire.session.admitDescriptor() }
    #expect("\(try #require(refusal))".contains("64 descriptors wait"))
    for _ in 0..<64 {
      if let descriptor = try wire.read().descriptor { close(descriptor) }
    }
    try wire.session.admitDescriptor()
  }

  @Test("What is kept for a program that has gone carries no descriptors")
  func kept() throws {
    var outbox = Outbox()
    let reading = try {
      let passed = try Passed()
      #expect(outbox.append(Data("a\n".utf8), as: .event) == .queued)
      #expect(outbox.append(Data("b\n".utf8), as: .event, with: passed.descriptor) == .queued)
      #expect(outbox.append(Data("c\n".utf8), as: .event) == .queued)
      return passed
    }().reading
    defer { close(reading) }
    outbox.dropAnswers()
    #expect(isClosed(reading))
    #expect(outbox.remove(upTo: 100).lines == [Data("a\n".utf8), Data("c\n".utf8)])
  }
}
