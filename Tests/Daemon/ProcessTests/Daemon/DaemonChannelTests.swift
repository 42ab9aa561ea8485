import BledRPC
import Bluetooth
import Glibc
import TestSupport
import Testing

/// L2CAP channels of the daemon on the simulated adapter, fetched with tokens.
@Suite(.serialized) struct DaemonChannelTests {
  /// Connects to the socket for channels and sends a line.
  private func fetch(_ channel: ChannelDescription, token: String? = nil) throws -> SocketClient {
    let socket = try SocketClient(try #require(channel.socket))
    try socket.send(raw: "\(try #require(token ?? channel.token))\n")
    return socket
  }

  /// Reads this number of octets, or the available ones until the end.
  private func read(_ count: Int, from socket: SocketClient) -> [UInt8] {
    var all: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while all.count < count {
      guard Patience.wait(for: socket.descriptor) else { break }
      let got = recv(socket.descriptor, &buffer, min(buffer.count, count - all.count), 0)
      guard got > 0 else { break }
      all += buffer.prefix(got)
    }
    return all
  }

  private func open(_ client: SocketClient) throws -> ChannelDescription {
    let link = try client.call(PeripheralConnect.self, .init(name: "Echo", timeout: 300))
    return try client.call(L2CAPOpen.self, .init(peripheral: link.peripheral, psm: 128, token: true))
  }

  @Test("What is written to an echoing device is read back, and a reader that stops stops the writer")
  func echo() throws {
    let daemon = try DaemonProcess()
    let client = try daemon.client()
    let channel = try open(client)
    #expect(channel.socket == "\(daemon.folder.path)/bled-channels.sock")
    let socket = try fetch(channel)
    try socket.send(raw: "hello")
    #expect(read(5, from: socket) == Array("hello".utf8))
    // Nothing is read from here on: the buffers on the way limit what can be written.
    _ = fcntl(socket.descriptor, F_SETFL, O_NONBLOCK)
    let block = (0..<65_536).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) }
    var written: [UInt8] = []
    while true {
      let count = Glibc.send(socket.descriptor, block, block.count, CInt(MSG_NOSIGNAL))
      if count > 0 {
        written += block.prefix(count)
        continue
      }
      var waiting = pollfd(fd: socket.descriptor, events: Int16(POLLOUT), revents: 0)
      if poll(&waiting, 1, 1500) == 0 { break }
    }
    #expect(written.count < 4 << 20, "\(written.count) octets were taken although nobody reads")
    _ = try client.call(AdapterList.self, Empty())
    #expect(read(written.count, from: socket) == written)
    socket.close()
    let closed = try client.next(L2CAPClosed.self)
    #expect(closed.channel == channel.channel && closed.reason == nil)
  }

  @Test("A token works once; what is no token closes the connection")
  func tokens() throws {
    let daemon = try DaemonProcess()
    let client = try daemon.client()
    let channel = try open(client)
    let wrong = try fetch(channel, token: String(repeating: "0", count: 32))
    #expect(read(1, from: wrong).isEmpty)
    let first = try fetch(channel)
    try first.send(raw: "x")
    #expect(read(1, from: first) == Array("x".utf8))
    #expect(read(1, from: try fetch(channel)).isEmpty)
    _ = try client.call(PeripheralDisconnect.self, .init(peripheral: channel.peripheral))
    #expect(read(1, from: first).isEmpty)
    #expect(try client.next(L2CAPClosed.self).reason?.data?.name == "disconnected")
  }

  @Test("A phone's channel is told, accepted and read")
  func phone() throws {
    let daemon = try DaemonProcess(
      scenario: """
        { phones: [{ name: 'Phone', address: 'C0:DE:00:00:01:01', addressType: 'random', connectDelay: 0, stay: 20,
            script: [{ do: 'openChannel', psm: 128, text: 'Hello' }] }] }
        """)
    let client = try daemon.client()
    _ = try client.call(L2CAPPublish.self, .init(psm: 128))
    _ = try client.call(AdvertisingStart.self, .init(name: "bled"))
    let incoming = try client.next(L2CAPIncoming.self)
    let channel = try client.call(L2CAPAccept.self, .init(channel: incoming.channel, token: true))
    #expect(read(5, from: try fetch(channel)) == Array("Hello".utf8))
  }
}
