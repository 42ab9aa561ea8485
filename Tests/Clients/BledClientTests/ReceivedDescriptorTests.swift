import BledRPC
import Foundation
import Glibc
import Synchronization
import TestSupport
import Testing

@testable import BledClient

@Suite("BledClient: descriptors that the daemon passes") struct ReceivedDescriptorTests {
  /// The writing ends of pipes, one for each passed descriptor.
  private struct Pipes: Sendable {
    let reading: [Int32]
    let writing: [Int32]

    init(_ count: Int) throws {
      var (reading, writing): ([Int32], [Int32]) = ([], [])
      for _ in 0..<count {
        var ends: [Int32] = [-1, -1]
        try #require(pipe(&ends) == 0)
        reading.append(ends[0])
        writing.append(ends[1])
      }
      (self.reading, self.writing) = (reading, writing)
    }

    /// The text written into this pipe; empty once no process can write any more. Waits for either.
    func text(_ index: Int) async -> String {
      let descriptor = reading[index]
      return await onThread {
        guard Patience.wait(for: descriptor) else { return "nothing came" }
        var octets = [UInt8](repeating: 0, count: 100)
        let count = read(descriptor, &octets, octets.count)
        return String(decoding: octets[..<max(0, count)], as: UTF8.self)
      }
    }

    func close() { for descriptor in reading { Glibc.close(descriptor) } }
  }

  private static let event = try? RPCEncoding.notification(ServerReady.self, Empty())

  @Test("each descriptor comes with its own line, however the kernel joins or cuts lines")
  func matched() async throws {
    let daemon = try FakeDaemon()
    let pipes = try Pipes(3)
    defer { pipes.close() }
    let plain = try #require(Self.event)
    func numbered(_ number: Int) throws -> Data {
      try RPCEncoding.success(id: .number(number), Empty())
    }
    let lines = try [plain, numbered(10), plain, numbered(11), numbered(12), plain]
    let script = daemon.play { daemon in
      daemon.send(lines[0])
      daemon.send(lines[1], passing: pipes.writing[0])
      daemon.send(lines[2])
      daemon.send(lines[3], passing: pipes.writing[1])
      // Only the first octets of a line are sent with its descriptor; its rest is sent with other lines.
      daemon.send(lines[4].prefix(7), passing: pipes.writing[2])
      daemon.send(lines[4].dropFirst(7) + lines[5])
      daemon.close()
    }
    let connection = try await LineConnection.connect(to: daemon.path)
    connection.send(try RPCEncoding.request(SessionOpen.self, id: .number(1), .init()))
    try await script.value
    let came = Mutex<[(line: Data, descriptor: ReceivedDescriptor?)]>([])
    _ = await withCheckedContinuation { continuation in
      connection.start(
        line: { line, descriptor in came.withLock { $0.append((line + Data("\n".utf8), descriptor)) } },
        closed: { continuation.resume(returning: $0) })
    }
    let all = came.withLock { $0 }.dropFirst()
    #expect(all.map(\.line) == lines)
    #expect(all.map { $0.descriptor != nil } == [false, true, false, true, true, false])
    for (index, descriptor) in all.compactMap(\.descriptor).enumerated() {
      let number = try #require(descriptor.take())
      #expect(descriptor.take() == nil)
      #expect(fcntl(number, F_GETFD) & FD_CLOEXEC != 0)
      let text = "pipe \(index)"
      #expect(write(number, text, text.utf8.count) == text.utf8.count)
      close(number)
      #expect(await pipes.text(index) == text)
    }
  }

  @Test("a call that asks for a descriptor gets it; an unexpected descriptor is closed")
  func asked() async throws {
    let daemon = try FakeDaemon()
    let pipes = try Pipes(3)
    defer { pipes.close() }
    let plain = try #require(Self.event)
    let script = daemon.play { daemon in
      let unasked = try daemon.expect(PeripheralRSSI.self)
      daemon.send(plain, passing: pipes.writing[0])
      daemon.send(
        try RPCEncoding.success(id: unasked.id, PeripheralRSSI.Result(rssi: -1)), passing: pipes.writing[1])
      let asked = try daemon.expect(PeripheralRSSI.self)
      daemon.send(try RPCEncoding.success(id: asked.id, PeripheralRSSI.Result(rssi: -2)), passing: pipes.writing[2])
      let without = try daemon.expect(PeripheralRSSI.self)
      try daemon.answer(without.id, PeripheralRSSI.Result(rssi: -3))
      try daemon.expectEnd()
    }
    let client = try await BledClient.connect(to: daemon.path)
    #expect(try await client.call(PeripheralRSSI.self, .init(peripheral: "P")).rssi == -1)
    for index in 0...1 { #expect(await pipes.text(index).isEmpty, "closed") }
    do {
      let (result, descriptor) = try await client.core.callForDescriptor(PeripheralRSSI.self, .init(peripheral: "P"))
      #expect(result.rssi == -2)
      let number = try #require(descriptor.take())
      #expect(write(number, "x", 1) == 1)
      close(number)
      #expect(await pipes.text(2) == "x")
    }
    let failure = await #expect(throws: BluetoothError.self) {
      try await client.core.callForDescriptor(PeripheralRSSI.self, .init(peripheral: "P"))
    }
    #expect(failure?.name == "protocolViolation")
    client.close()
    try await script.value
  }
}
