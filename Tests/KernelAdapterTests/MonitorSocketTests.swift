import Adapter
import Bluetooth
import EventLoop
import Glibc
import HCI
import Testing

@testable import KernelAdapter

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

  /// The kernel tells of a packet.
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

  @Test func whatPassedBeforeItWasUnpluggedIsTold() throws {
    try tell(3, of: 0)
    #expect(try read() == ["3 of 0"])
    try tell(2, of: 0)
    try tell(3, of: 1)
    try tell(1, of: 0)
    // Another one that has its number.
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

  @Test func itsEndIsTold() throws {
    try tell(3, of: 0)
    kernel = nil
    #expect(try read() == ["3 of 0", "ended adapterFailed"])
    socket?.catchUp()
    #expect(try read() == [])
  }
}
