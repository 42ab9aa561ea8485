import BledRPC
import Bluetooth
import FoundationEssentials
import Glibc
import TestSupport
import Testing

/// How a real daemon handles invalid lines and misbehaving clients: other clients are not affected.
@Suite(.serialized) struct DaemonProtocolTests {
  @Test func badLinesGetErrorsAndTheConnectionGoesOn() throws {
    let daemon = try DaemonProcess()
    let client = try daemon.client()
    for (line, code) in [
      ("nonsense", RPCError.parseError), ("{", RPCError.parseError), ("[]", RPCError.invalidRequest),
      ("{\"jsonrpc\":\"2.0\"}", RPCError.invalidRequest),
    ] {
      try client.send(raw: line + "\n")
      #expect(try client.nextError().code == code, "\(line)")
    }
    try client.send(raw: "{\"jsonrpc\":\"2.0\",\"id\":9,\"method\":\"no.such\"}\n\r\n\n")
    let missing = try client.finish(9, AdapterList.self)
    #expect(throws: RPCError.self) { try missing.get() }
    #expect(try client.call(AdapterList.self, Empty()).adapters.count == 1)
  }

  @Test func linesComeInPiecesAndManyAtOnce() throws {
    let daemon = try DaemonProcess()
    let client = try daemon.client()
    let line = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"session.open\",\"params\":{\"name\":\"größer\"}}\n"
    for octet in line.utf8 { try client.send(raw: [octet]) }
    #expect(try client.finish(1, SessionOpen.self).get().protocol == 1)
    try client.send(raw: (2...500).map { "{\"jsonrpc\":\"2.0\",\"id\":\($0),\"method\":\"adapter.list\"}\n" }.joined())
    for id in 2...500 { _ = try client.finish(id, AdapterList.self).get() }
  }

  @Test("A line of up to 1 MiB is read and held against the limit of its method, a longer one is dropped")
  func hugeLines() throws {
    let daemon = try DaemonProcess()
    let client = try daemon.client()
    let frame = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"session.open\",\"params\":{\"name\":\"\"}}"
    func line(_ count: Int) -> String {
      frame.replacing("\"\"", with: "\"\(String(repeating: "n", count: count - frame.utf8.count))\"")
    }
    try client.send(raw: line(SessionOpen.longestLine) + "\n")
    _ = try client.finish(1, SessionOpen.self).get()
    let longest = line(LineFramer.defaultLimit).replacing("\"id\":1", with: "\"id\":2")
    #expect(longest.utf8.count == LineFramer.defaultLimit)
    try client.send(raw: longest + "\n")
    let refusal = try #require(throws: RPCError.self) { try client.finish(2, SessionOpen.self).get() }
    #expect(refusal.message == "the line has 1048576 octets; the limit of session.open is 65536")
    try client.send(raw: longest + " \n")
    #expect(try client.nextError().code == RPCError.invalidRequest)
    try client.send(raw: [UInt8](repeating: UInt8(ascii: "x"), count: 5 << 20) + [UInt8(ascii: "\n")])
    #expect(try client.nextError().code == RPCError.invalidRequest)
    _ = try client.call(AdapterList.self, Empty())
  }

  @Test("A descriptor that a client passes along is closed at once")
  func passedDescriptor() throws {
    let daemon = try DaemonProcess()
    let client = try daemon.client()
    var ends: [CInt] = [-1, -1]
    try #require(pipe(&ends) == 0)
    defer { close(ends[0]) }
    // struct cmsghdr of cmsg(3): the length with one descriptor, SOL_SOCKET, SCM_RIGHTS, the descriptor, padding.
    var control: (length: Int, level: CInt, type: CInt, descriptor: CInt, padding: CInt) = (
      20, SOL_SOCKET, 1, ends[1], 0
    )
    var line = Array("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"adapter.list\"}\n".utf8)
    let sent = line.withUnsafeMutableBytes { octets in
      withUnsafeMutableBytes(of: &control) { control in
        var part = iovec(iov_base: octets.baseAddress, iov_len: octets.count)
        return withUnsafeMutablePointer(to: &part) { part in
          var message = msghdr()
          (message.msg_iov, message.msg_iovlen) = (part, 1)
          (message.msg_control, message.msg_controllen) = (control.baseAddress, control.count)
          return sendmsg(client.descriptor, &message, CInt(MSG_NOSIGNAL))
        }
      }
    }
    #expect(sent == line.count)
    close(ends[1])
    _ = try client.finish(1, AdapterList.self).get()
    // No process holds the other end: this reads the end rather than waiting.
    var octet: UInt8 = 0
    #expect(Patience.wait(for: ends[0], 0) && Glibc.read(ends[0], &octet, 1) == 0)
  }

  @Test("What a client sent before it went away counts, though its answers can no longer be written")
  func goneWithUnreadAnswers() throws {
    let daemon = try DaemonProcess()
    let client = try daemon.client()
    let opening = SessionOpen.Params(restore: "gone")
    _ = try client.call(SessionOpen.self, opening)
    // More than the daemon reads in one turn, so that it writes answers in between.
    for _ in 0..<1000 { _ = try client.start(AdapterList.self, Empty()) }
    _ = try client.start(ScanStart.self, .init())
    client.close()
    var restored: RestoredState?
    // Until the daemon has noticed the end, the identifier is in use.
    try eventually("the session is restored") {
      restored = try? daemon.client().call(SessionOpen.self, opening).restored
      return restored != nil
    }
    #expect(restored?.scan != nil)
  }

  @Test("A client that sends and shuts down its sending side gets its answers, as with socat")
  func halfClosed() throws {
    let daemon = try DaemonProcess()
    let client = try daemon.client()
    try client.send(raw: "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"adapter.list\"}\n")
    try client.send(raw: "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"adapter.list\"}")
    shutdown(client.descriptor, CInt(SHUT_WR))
    _ = try client.finish(1, AdapterList.self).get()
    _ = try client.finish(2, AdapterList.self).get()
    try client.waitForEnd()
    let half = try daemon.client()
    try half.send(raw: "{\"jsonrpc\":\"2.0\",\"id\":2,")
    shutdown(half.descriptor, CInt(SHUT_WR))
    #expect(try half.nextError().code == RPCError.parseError)
    try half.waitForEnd()
    // A call without an id has no answer, and ends nevertheless.
    let silent = try daemon.client()
    try silent.send(
      raw: """
        {"jsonrpc":"2.0","method":"peripheral.connect","params":{"address":"C0:FF:EE:00:00:01","timeout":0.1}}
        {"jsonrpc":"2.0","id":3,"method":"adapter.list"}

        """)
    shutdown(silent.descriptor, CInt(SHUT_WR))
    _ = try silent.finish(3, AdapterList.self).get()
    try silent.waitForEnd()
  }

  @Test("A client that floods the daemon and reads no answers: others are served, memory stays bounded")
  func flood() throws {
    let daemon = try DaemonProcess()
    let flooder = try daemon.client()
    _ = fcntl(flooder.descriptor, F_SETFL, O_NONBLOCK)
    let lines = Array(
      String(repeating: "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"adapter.list\"}\n", count: 1000).utf8)
    let other = try daemon.client()
    var (sent, refusals) = (0, 0)
    // Until the daemon has stopped reading: the socket accepts nothing more, however often it has answered another.
    while sent < 64 << 20, refusals < 100 {
      let count = Glibc.send(flooder.descriptor, lines, lines.count, CInt(MSG_NOSIGNAL))
      sent += max(0, count)
      refusals = count > 0 ? 0 : refusals + 1
      if refusals > 0 { _ = try other.call(AdapterList.self, Empty()) }
    }
    #expect(sent < 8 << 20, "the daemon went on reading: \(sent) octets")
    for _ in 0..<100 { _ = try other.call(AdapterList.self, Empty()) }
    #expect(daemon.residentMemory < 200 << 20)
  }

  @Test("A flood of writes: each gets a result or an error, and another client of the link gets its turn (P16)")
  func floodOfWrites() throws {
    let daemon = try DaemonProcess()
    let (flooder, other) = (try daemon.client(), try daemon.client())
    let echo = BluetoothUUID("B1ED0002-5EED-4B1E-8D00-000000000000")
    let device = PeripheralConnect.Params(address: "C0:DE:00:00:00:04", addressType: "random", timeout: 300)
    let id = try flooder.call(PeripheralConnect.self, device).peripheral
    _ = try other.call(PeripheralConnect.self, device)
    let services = try flooder.call(GATTDiscover.self, .init(peripheral: id)).services
    let found = services.flatMap { $0.characteristics ?? [] }.first { $0.uuid == echo }
    let handle = try #require(found?.handle)
    var writes: [Int] = []
    for number in 0..<1500 {
      let value = HexBytes([UInt8(number >> 8), UInt8(number & 0xFF)])
      writes.append(
        try flooder.start(GATTWrite.self, .init(peripheral: id, handle: handle, value: value, response: false)))
    }
    _ = try other.call(GATTRead.self, .init(peripheral: id, handle: handle))
    let refused = try writes.compactMap { id -> String? in
      if case .failure(let error) = try flooder.finish(id, GATTWrite.self) { error.data?.name } else { nil }
    }
    #expect(refused.allSatisfy { $0 == "limitReached" })
    #expect(refused.count <= writes.count - 1024)
    #expect(daemon.residentMemory < 200 << 20)
  }
}

extension DaemonProcess {
  /// In octets, from proc(5).
  var residentMemory: Int {
    let fields = ChildProcess.read("/proc/\(process.pid)/statm").split(separator: " ")
    return (fields.count > 1 ? Int(fields[1]) ?? 0 : 0) * 4096
  }
}
