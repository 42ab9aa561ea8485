import Adapter
@testable import Controllers
import Bluetooth
import EventLoop
import Glibc
import HCI
import Testing

/// The monitor channel of a kernel, over a pair of sockets.
final class MonitorSocketTests {
  private let loop: EventLoop
  private var kernel: Descriptor?
  private var index: ControllerIndex? = ControllerIndex(rawValue: 0)
  private var told: [String] = []
  private var socket: MonitorSocket?

  init() throws {
    var ends: [Int32] = [-1, -1]
    try #require(socketpair(AF_UNIX, Int32(SOCK_SEQPACKET.rawValue) | Int32(SOCK_NONBLOCK.rawValue), 0, &ends) == 0)
    loop = try EventLoop()
    kernel = Descriptor(ends[1])
    socket = try MonitorSocket(Descriptor(ends[0]), of: { [unowned self] in index }, on: loop) { [unowned self] event in
      switch event {
      case .packet(let packet, let number):
        told.append("\(packet.kind.rawValue) of \(number.map { "\($0)" } ?? "none")")
      case .lost(let count): told.append("lost \(count)")
      case .ended(let error): told.append("ended \(error.name)")
      }
    }
  }

  /// The kernel reports a packet.
  private func tell(_ kind: UInt8, of number: UInt8) throws {
    #expect(try kernel?.write([kind, 0, number, 0, 1, 0, 0xFF]) == true)
  }

  private func read() throws -> [String] {
    while try loop.poll() {}
    defer { told = [] }
    return told
  }

  @Test func thePacketsOfItsControllerAreTold() throws {
    try tell(3, of: 0)
    try tell(3, of: 1)
    try tell(2, of: 0)
    #expect(try read() == ["3 of 0", "2 of 0"])
  }

  @Test("links are reported once, behind the description of the controllers and before other packets")
  func links() throws {
    socket?.links = [MonitorPacket(.event, []), MonitorPacket(.event, [])]
    for kind: UInt8 in [0, 8, 10] { try tell(kind, of: 0) }
    try tell(4, of: 0)
    #expect(try read() == ["0 of 0", "8 of 0", "10 of 0", "3 of 0", "3 of 0", "4 of 0"])
    socket?.links = [MonitorPacket(.event, [])]
    try tell(10, of: 0)
    #expect(try read() == ["10 of 0", "3 of 0"])
    socket?.links = [MonitorPacket(.event, [])]
    index = nil
    try tell(1, of: 0)
    #expect(try read() == ["1 of 0"])
  }

  @Test func whatPassedBeforeItWasUnpluggedIsTold() throws {
    try tell(3, of: 0)
    #expect(try read() == ["3 of 0"])
    try tell(2, of: 0)
    try tell(3, of: 1)
    try tell(1, of: 0)
    // Another controller with its number.
    try tell(0, of: 0)
    index = nil
    #expect(try read() == ["2 of 0", "1 of 0"])
    index = ControllerIndex(rawValue: 1)
    try tell(3, of: 1)
    try tell(3, of: 0)
    #expect(try read() == ["3 of 1"])
  }

  @Test func whatHasPassedIsToldAtOnceWhenItIsToCatchUp() throws {
    for _ in 0..<100 { try tell(3, of: 0) }
    socket?.catchUp()
    #expect(told.count == 100)
  }

  @Test("a loss is told before the packets that came after it, also where it happens while others are read")
  func lossWhileReading() throws {
    let (ours, theirs) = try Self.lossy()
    var told: [String] = []
    let lossy = try MonitorSocket(ours, of: { [unowned self] in index }, on: loop) { event in
      switch event {
      case .packet(let packet, _):
        told.append(packet.octets == [0xAA] ? "after" : "packet")
        // The first packet is delivered: further ones exceed the room, and one follows when there is room again.
        let large = [3, 0, 0, 0, 1, 0] + [UInt8](repeating: 0xFF, count: 60_000)
        if told == ["packet"] { for _ in 0..<100 { _ = try? theirs.write(large) } }
        if told == ["packet", "packet"] { _ = try? theirs.write([3, 0, 0, 0, 1, 0, 0xAA]) }
      case .lost: told.append("lost")
      case .ended: told.append("ended")
      }
    }
    for _ in 0..<3 { #expect(try theirs.write([3, 0, 0, 0, 1, 0, 0xFF])) }
    while try loop.poll() {}
    _ = try theirs.write([3, 0, 0, 0, 1, 0, 0xAA])
    while try loop.poll() {}
    let (loss, after) = (told.firstIndex(of: "lost"), told.firstIndex(of: "after"))
    #expect(try #require(loss) < (#require(after)))
    lossy.close()
  }

  /// A socket that drops datagrams without room, as the kernel's monitor does, and the other end.
  private static func lossy() throws -> (Descriptor, Descriptor) {
    func make() throws -> Int32 {
      let number = Glibc.socket(AF_INET, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue), 0)
      try #require(number >= 0)
      return number
    }
    let (ours, theirs) = (try make(), try make())
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isConnected = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
        bind(ours, generic, length) == 0 && getsockname(ours, generic, &length) == 0
          && connect(theirs, generic, length) == 0
      }
    }
    try #require(isConnected)
    return (Descriptor(ours), Descriptor(theirs))
  }

  @Test func itsEndIsTold() throws {
    try tell(3, of: 0)
    kernel = nil
    #expect(try read() == ["3 of 0", "ended adapterFailed"])
    socket?.catchUp()
    #expect(try read() == [])
  }
}
