import BledClient
import BledRPC
import Bluetooth
import Foundation
import Synchronization
import Testing

@Suite("BledClient: the connection") struct LineConnectionTests {
  @Test("calls that exceed the socket's buffer arrive complete and in order, although the daemon reads late")
  func partialWrites() async throws {
    let daemon = try FakeDaemon()
    let texts = (0..<8).map { String(repeating: "\($0)", count: 900_000 + $0) }
    let (begun, begin) = AsyncStream.makeStream(of: Void.self)
    let script = daemon.play { daemon in
      let first = try daemon.expect(PeripheralRSSI.self)
      begin.yield()
      // By now the client's octets have filled the buffer, or do so while this reads.
      for text in texts {
        let call = try daemon.expect(PeripheralRSSI.self)
        guard call.params.peripheral == text else { throw FakeDaemon.Trouble("a call came damaged or out of order") }
      }
      try daemon.answer(first.id, PeripheralRSSI.Result(rssi: -1))
      try daemon.expectEnd()
    }
    let client = try await BledClient.connect(to: daemon.path)
    async let answer = client.call(PeripheralRSSI.self, .init(peripheral: "P"))
    for await _ in begun { break }
    for text in texts { client.call(PeripheralRSSI.self, .init(peripheral: text)) { _ in } }
    #expect(try await answer.rssi == -1)
    client.close()
    try await script.value
  }

  @Test("what is sent before the client closes is still written")
  func lastWords() async throws {
    let daemon = try FakeDaemon()
    let text = String(repeating: "x", count: 900_000)
    let script = daemon.play { daemon in
      for _ in 0..<5 {
        guard try daemon.expect(PeripheralRSSI.self).params.peripheral == text else { throw FakeDaemon.Trouble("cut") }
      }
      try daemon.expectEnd()
    }
    let client = try await BledClient.connect(to: daemon.path)
    for _ in 0..<5 { client.call(PeripheralRSSI.self, .init(peripheral: text)) { _ in } }
    client.close()
    try await script.value
  }

  @Test("a daemon that does not read ends the connection when 64 MiB wait to be sent")
  func unsent() async throws {
    let daemon = try FakeDaemon()
    let (finished, finish) = AsyncStream.makeStream(of: Void.self)
    let script = daemon.play { _ in
      let waited = DispatchSemaphore(value: 0)
      Task {
        for await _ in finished { break }
        waited.signal()
      }
      waited.wait()
    }
    let client = try await BledClient.connect(to: daemon.path)
    let text = String(repeating: "x", count: 1_000_000)
    let failures = AsyncStream<BluetoothError?> { output in
      for _ in 0..<70 {
        client.call(PeripheralRSSI.self, .init(peripheral: text)) { result in
          if case .failure(let error) = result { output.yield(error) } else { output.yield(nil) }
        }
      }
    }
    var count = 0
    for await failure in failures {
      #expect(failure?.name == "tooSlow")
      count += 1
      if count == 70 { break }
    }
    #expect(!client.isConnected)
    finish.yield()
    try await script.value
  }

  @Test("the daemon's last messages are read although a write has failed before")
  func failedWrite() async throws {
    let daemon = try FakeDaemon()
    let script = daemon.play { daemon in
      try daemon.notify(ServerReady.self, Empty())
      daemon.close()
    }
    let connection = try await LineConnection.connect(to: daemon.path)
    connection.send(try RPCEncoding.request(SessionOpen.self, id: .number(1), .init()))
    try await script.value
    connection.send(Data("{}\n".utf8))
    let lines = Mutex<[String]>([])
    let end = await withCheckedContinuation { continuation in
      connection.start(
        line: { line, _ in lines.withLock { $0.append(String(decoding: line, as: UTF8.self)) } },
        closed: { continuation.resume(returning: $0) })
    }
    #expect(end?.name == "daemonUnreachable")
    #expect(lines.withLock { $0.count } == 2, "the answer to session.open and the notification")
    // After the end nothing happens, even if more is sent.
    connection.send(Data("{}\n".utf8))
    connection.close()
  }

  @Test("a path that is too long for a socket is an error")
  func longPath() async throws {
    let failure = await #expect(throws: BluetoothError.self) {
      try await LineConnection.connect(to: "/" + String(repeating: "x", count: 107))
    }
    #expect(failure?.message.contains("File name too long") == true)
  }
}
