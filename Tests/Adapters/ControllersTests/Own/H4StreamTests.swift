import Adapter
@testable import Controllers
import EventLoop
import Glibc
import TestSupport
import Testing

@Suite struct H4StreamTests {
  /// A stream, and its events.
  private final class Heard {
    var isOpen = false
    var packets: [[UInt8]] = []
    var skipped = 0
    var ends: [String] = []
    var refusals: [SystemError] = []

    func hear(_ stream: H4Stream) {
      stream.onEvent = { [self] event in
        switch event {
        case .starting: break
        case .opened: isOpen = true
        case .packet(let packet): packets.append(packet)
        case .skipped(let count): skipped += count
        case .ended(let reason): ends.append(reason)
        case .refused(let error): refusals.append(error)
        }
      }
    }
  }

  /// Turns the loop until a condition holds.
  private func turn(_ loop: EventLoop, until condition: () -> Bool) throws -> Bool {
    try Patience.wait {
      try loop.poll()
      return condition()
    }
  }

  /// A serial line: the controller's end, and the device file of the other one.
  private func serialLine() throws -> (master: CInt, path: String) {
    let master = Glibc.open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
    var (number, isLocked) = (CUnsignedInt(0), CInt(0))
    // TIOCSPTLCK and TIOCGPTN, which Swift does not import.
    let (setLock, getNumber): (UInt, UInt) = (0x4004_5431, 0x8004_5430)
    try #require(ioctl(master, setLock, &isLocked) == 0)
    try #require(ioctl(master, getNumber, &number) == 0)
    return (master, "/dev/pts/\(number)")
  }

  /// A stream that has started.
  private func open(_ path: String, on loop: EventLoop) throws -> (H4Stream, Heard) {
    let stream = try H4Stream(to: try TransportAddress(path), on: loop, by: VirtualScheduler())
    let heard = Heard()
    heard.hear(stream)
    try stream.start()
    return (stream, heard)
  }

  private static let reset: [UInt8] = [0x01, 0x03, 0x0C, 0x00]
  private static let answer: [UInt8] = [0x04, 0x0E, 0x04, 0x01, 0x03, 0x0C, 0x00]

  @Test func aSerialLineCarriesPackets() throws {
    let (master, path) = try serialLine()
    defer { close(master) }
    let loop = try EventLoop()
    let address = try TransportAddress("\(path),115200")
    let stream = try H4Stream(to: address, on: loop, by: VirtualScheduler())
    let heard = Heard()
    heard.hear(stream)
    try stream.start()
    #expect(try turn(loop) { heard.isOpen })
    // Another program is kept away.
    #expect(throws: SystemError(result: -EBUSY)) { try H4Stream(to: address, on: loop, by: VirtualScheduler()) }

    stream.send(Self.reset)
    var buffer = [UInt8](repeating: 0, count: 64)
    try #require(Patience.wait(for: master))
    #expect(Array(buffer[..<max(0, read(master, &buffer, 64))]) == Self.reset)

    // No octet has a meaning for the line, and a packet arrives in pieces.
    let all = Self.answer + [0x04, 0xFF, 0x05, 0x03, 0x04, 0x0A, 0x0D, 0x7F]
    for octet in all {
      try #require(write(master, [octet], 1) == 1)
      try loop.poll()
    }
    #expect(try turn(loop) { heard.packets.count == 2 })
    #expect(heard.packets == [Self.answer, Array(all[7...])])
    stream.close()
  }

  @Test func theFirstPacketOfALineAnswersReset() throws {
    let (master, path) = try serialLine()
    defer { close(master) }
    let loop = try EventLoop()
    let (stream, heard) = try open(path, on: loop)
    // The end of an event, and the beginning of data of 65,535 octets.
    let octets = [0x40, 0x00, 0x02, 0x40, 0x20, 0xFF, 0xFF] + Self.answer + [0x04, 0xFF, 0x00]
    try #require(write(master, octets, octets.count) == octets.count)
    #expect(try turn(loop) { heard.packets.count == 2 })
    #expect(heard.packets == [Self.answer, [0x04, 0xFF, 0x00]] && heard.skipped == 7)
    stream.close()
  }

  /// Controllers may have longer buffers than the kernel's drivers, which take 1 KiB.
  @Test func packetsAbove1KiBAreWholeBothWays() throws {
    let name = "bled-h4-long-\(getpid())"
    let listener = try ControllerSocket.listen(name)
    defer { close(listener) }
    let loop = try EventLoop()
    let (stream, heard) = try open("unix:@\(name)", on: loop)
    #expect(try turn(loop) { heard.isOpen })
    let other = accept(listener, nil, nil)
    defer { close(other) }
    let long: [UInt8] = [0x02, 0x40, 0x20, 0x00, 0x20] + (0..<0x2000).map { UInt8(truncatingIfNeeded: $0) }
    for packet in [Self.answer, long, Self.answer] {
      try #require(write(other, packet, packet.count) == packet.count)
    }
    #expect(try turn(loop) { heard.packets.count == 3 })
    #expect(heard.packets == [Self.answer, long, Self.answer])

    stream.send(long)
    var (received, buffer): ([UInt8], [UInt8]) = ([], [UInt8](repeating: 0, count: 1 << 14))
    while received.count < long.count, Patience.wait(for: other) {
      let count = read(other, &buffer, buffer.count)
      guard count > 0 else { break }
      received += buffer[..<count]
    }
    #expect(received == long)
    stream.close()
  }

  @Test func packetsAreDelivered64InATurn() throws {
    let name = "bled-h4-\(getpid())"
    let listener = try ControllerSocket.listen(name)
    defer { close(listener) }
    let loop = try EventLoop()
    let stream = try H4Stream(to: .unix("@\(name)"), on: loop, by: VirtualScheduler())
    let heard = Heard()
    heard.hear(stream)
    try stream.start()
    #expect(try turn(loop) { heard.isOpen })
    let other = accept(listener, nil, nil)
    defer { close(other) }
    let octets = (0..<200).flatMap { [0x04, 0xFF, 0x01, UInt8($0)] as [UInt8] }
    try #require(write(other, Self.answer, Self.answer.count) == Self.answer.count)
    #expect(try turn(loop) { heard.packets.count == 1 })
    heard.packets = []
    try #require(write(other, octets, octets.count) == octets.count)
    var counts: [Int] = []
    while heard.packets.count < 200 {
      let before = heard.packets.count
      try #require(try loop.poll())
      counts.append(heard.packets.count - before)
    }
    #expect(counts.filter { $0 > 0 } == [64, 64, 64, 8])
    #expect(heard.packets.compactMap(\.last) == (0..<200).map { UInt8($0) })
    // The end follows the octets read.
    try #require(write(other, octets, octets.count) == octets.count)
    shutdown(other, CInt(SHUT_RDWR))
    #expect(try turn(loop) { !heard.ends.isEmpty })
    #expect(heard.packets.count == 400)
    stream.close()
  }

  @Test func aMachineThatVanishesIsNoticed() throws {
    let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(listener) }
    let port = try Self.bind(listener)
    try #require(listen(listener, 1) == 0)
    let transport = try Transport(to: .tcp(host: "127.0.0.1", port: port))
    let values = [
      (SOL_SOCKET, SO_KEEPALIVE), (CInt(IPPROTO_TCP), TCP_KEEPIDLE), (CInt(IPPROTO_TCP), TCP_KEEPINTVL),
      (CInt(IPPROTO_TCP), TCP_KEEPCNT),
    ].map { level, option in
      var value: CInt = 0
      var length = socklen_t(MemoryLayout<CInt>.size)
      return getsockopt(transport.descriptor.number, level, option, &value, &length) == 0 ? value : -1
    }
    #expect(values == [1, 10, 5, 3])
  }

  /// Binds a socket to a port that is free.
  private static func bind(_ socket: CInt) throws -> UInt16 {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    try withUnsafeMutablePointer(to: &address) { pointer in
      try pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        try #require(Glibc.bind(socket, $0, length) == 0)
        try #require(getsockname(socket, $0, &length) == 0)
      }
    }
    return UInt16(bigEndian: address.sin_port)
  }

  @Test func theEndOfASerialLineIsTold() throws {
    let (master, path) = try serialLine()
    let loop = try EventLoop()
    let (stream, heard) = try open(path, on: loop)
    #expect(try turn(loop) { heard.isOpen })
    close(master)
    #expect(try turn(loop) { !heard.ends.isEmpty })
    #expect(heard.ends.count == 1)
    stream.close()
  }

  /// CTS permits sending, unless the board has no such line.
  @Test(arguments: [true, false]) func aLineIsExclusiveAndHasFlowControlUnlessToldOtherwise(_ hasFlow: Bool) throws {
    let (master, path) = try serialLine()
    defer { close(master) }
    let address = try TransportAddress(hasFlow ? path : "\(path),noflow")
    let stream = try H4Stream(to: address, on: try EventLoop(), by: VirtualScheduler())
    var (settings, isExclusive) = (termios(), CInt(0))
    try #require(tcgetattr(master, &settings) == 0)
    #expect((settings.c_cflag & tcflag_t(CRTSCTS) != 0) == hasFlow)
    let other = Glibc.open(path, O_RDWR | O_NOCTTY | O_NONBLOCK)
    // Root may open it all the same, and then checks (TIOCGEXCL).
    let isOpen = other >= 0
    #expect(isOpen ? ioctl(other, UInt(0x8004_5440), &isExclusive) == 0 && isExclusive != 0 : errno == EBUSY)
    stream.close()
    if isOpen {
      #expect(ioctl(other, UInt(0x8004_5440), &isExclusive) == 0 && isExclusive == 0)
      close(other)
    }
  }

  @Test func aLineWithoutCTSSaysSo() {
    #expect(SerialLine.obstacle(0, hasFlowControl: true)?.contains("CTS of its line is off") == true)
    #expect(SerialLine.obstacle(Int32(TIOCM_CTS), hasFlowControl: true) == nil)
    #expect(SerialLine.obstacle(0, hasFlowControl: false) == nil)
  }

  @Test func aLineThatAnotherProgramHasKeepsItsOctets() throws {
    let (master, path) = try serialLine()
    defer { close(master) }
    let loop = try EventLoop()
    let stream = try H4Stream(to: try TransportAddress(path), on: loop, by: VirtualScheduler())
    defer { stream.close() }
    // TIOCPKT: a line that is flushed says so.
    var isTold = CInt(1)
    try #require(ioctl(master, UInt(0x5420), &isTold) == 0)
    #expect(throws: SystemError(result: -EBUSY)) {
      try H4Stream(to: try TransportAddress(path), on: loop, by: VirtualScheduler())
    }
    try #require(fcntl(master, F_SETFL, O_NONBLOCK) == 0)
    var status: UInt8 = 0
    #expect(read(master, &status, 1) == -1)
    #expect(errno == EAGAIN)
  }

  @Test("Closing a line drops what the controller has not taken, as it would wait for that otherwise")
  func closedLine() throws {
    let (master, path) = try serialLine()
    defer { close(master) }
    let loop = try EventLoop()
    let (stream, heard) = try open(path, on: loop)
    #expect(try turn(loop) { heard.isOpen })
    // TIOCPKT: reading reports it, as TIOCPKT_FLUSHWRITE.
    var isTold = CInt(1)
    try #require(ioctl(master, UInt(0x5420), &isTold) == 0)
    stream.send(Self.reset)
    stream.close()
    var status: UInt8 = 0
    #expect(read(master, &status, 1) == 1)
    #expect(status & 0x02 != 0)
  }

  @Test func aTransportThatIsNotThereIsAnError() throws {
    let loop = try EventLoop()
    #expect(throws: SystemError(result: -ENOENT)) {
      try H4Stream(to: .unix("/nonexistent/hci"), on: loop, by: VirtualScheduler())
    }
    #expect(throws: SystemError(result: -ENOENT)) {
      try H4Stream(to: .serial("/nonexistent/tty", speed: 115_200), on: loop, by: VirtualScheduler())
    }
    #expect(throws: SystemError(result: -ENOTTY)) {
      try H4Stream(to: .serial("/dev/null", speed: 115_200), on: loop, by: VirtualScheduler())
    }
  }

  @Test func aPortWithoutAListenerRefuses() throws {
    // A port that was free a moment ago, held without listening.
    let holder = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(holder) }
    let port = try Self.bind(holder)
    let loop = try EventLoop()
    let heard = Heard()
    do {
      let stream = try H4Stream(to: .tcp(host: "127.0.0.1", port: port), on: loop, by: VirtualScheduler())
      heard.hear(stream)
      try stream.start()
      #expect(try turn(loop) { !heard.refusals.isEmpty })
    } catch let error as SystemError {
      heard.refusals.append(error)
    }
    #expect(heard.refusals == [SystemError(result: -ECONNREFUSED)])
  }
}
