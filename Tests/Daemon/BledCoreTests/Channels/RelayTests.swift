import Adapter
import BledRPC
import Bluetooth
import EventLoop
import Glibc
import TestSupport
import Testing

@testable import BledCore

/// The relay between a channel and its program.
@Suite struct RelayTests {
  private static let gone = GAPError.disconnected.error("gone")

  /// Runs the loop until something is so, or patience ends.
  private static func run(_ loop: EventLoop, until condition: () -> Bool) throws {
    let end = Patience.end
    // Real time: it ends the wait for events that never occur.
    while !condition(), ContinuousClock.now < end { try loop.poll() }
    #expect(condition())
  }

  @Test("Before the program is there nothing is read of anybody")
  func beforeTheProgram() {
    var machine = RelayMachine()
    #expect(!machine.readsDevice && !machine.readsProgram && machine.end == nil)
    machine.attached()
    #expect(machine.readsDevice && machine.readsProgram && !machine.awaitsRoom)
  }

  @Test("A program that does not read stops the device, and a device without room the program")
  func backPressure() {
    var machine = RelayMachine()
    machine.attached()
    machine.received([1, 2, 3])
    machine.wrote(1)
    #expect(Array(machine.waiting) == [2, 3] && !machine.readsDevice && machine.awaitsRoom && machine.readsProgram)
    machine.wrote(2)
    #expect(machine.readsDevice && !machine.awaitsRoom)
    machine.sent(hasRoom: false)
    #expect(!machine.readsProgram && machine.readsDevice)
    machine.sent(hasRoom: true)
    #expect(machine.readsProgram)
  }

  @Test("The device's end comes after what it sent; the program's end ends it at once")
  func ends() {
    var machine = RelayMachine()
    machine.attached()
    machine.received([1])
    machine.deviceEnded(Self.gone)
    #expect(machine.end == nil && !machine.readsProgram && machine.awaitsRoom)
    machine.wrote(1)
    #expect(machine.end == .byDevice(Self.gone))
    machine = RelayMachine()
    machine.attached()
    machine.programEndedSending()
    #expect(machine.end == nil && machine.readsDevice && !machine.readsProgram && machine.awaitsGoing)
    machine.programGone()
    #expect(machine.end == .byProgram)
  }

  @Test("A program that reads no more still has what it wrote sent")
  func onlyWrites() {
    var machine = RelayMachine()
    machine.attached()
    machine.received([1])
    machine.programEndedReading()
    machine.received([2])
    // Without reading from the device its end would not be noticed.
    #expect(machine.waiting.isEmpty && machine.readsDevice && machine.readsProgram && machine.end == nil)
    machine.programEndedSending()
    #expect(machine.end == .byProgram)
  }

  @Test("The relay carries packets both ways, one at a time where there is no room")
  func carries() {
    let channel = ScriptedChannel(0x80)
    let end = ScriptedEnd()
    var reasons: [BluetoothError?] = []
    let relay = ChannelRelay(channel) { reasons.append($0) }
    #expect(!channel.isReading)
    relay.attach(end)
    #expect(channel.isReading && end.isReading)
    end.room = 2
    channel.onEvent?(.received([1, 2, 3]))
    #expect(end.taken == [[1, 2]] && !channel.isReading && end.awaitsRoom)
    end.room = 100
    end.onReady?()
    #expect(end.taken == [[1, 2], [3]] && channel.isReading && !end.awaitsRoom)
    channel.credits = 1
    end.write(.octets([4]), .octets([5]))
    #expect(channel.sent == [[4]] && !end.isReading)
    channel.credits = 5
    #expect(channel.sent == [[4], [5]] && end.isReading, "the next packet does not wait for the loop")
    end.write(.gone)
    #expect(channel.isClosed && end.isClosed && reasons == [nil])
    channel.onEvent?(.ended(Self.gone))
    #expect(reasons.count == 1)
  }

  @Test("A packet that the device does not take ends the channel, and says so")
  func tooLong() throws {
    let channel = ScriptedChannel(0x80)
    let end = ScriptedEnd()
    var reasons: [BluetoothError?] = []
    let relay = ChannelRelay(channel) { reasons.append($0) }
    relay.attach(end)
    end.write(.tooLong(101))
    let reason = try #require(reasons.first ?? nil)
    #expect(reason.message.contains("101 octets") && reason.message.contains("100"))
    #expect(channel.isClosed && end.isClosed)
  }

  @Test("Sockets: packets keep their bounds, an empty one is no end, and what was written before the end arrives")
  func sockets() throws {
    let loop = try EventLoop()
    var pair: [CInt] = [-1, -1]
    let type = CInt(SOCK_SEQPACKET.rawValue) | CInt(SOCK_NONBLOCK.rawValue)
    #expect(socketpair(AF_UNIX, type, 0, &pair) == 0)
    let channel = ScriptedChannel(0x80)
    channel.credits = 2
    var reasons: [BluetoothError?] = []
    let relay = ChannelRelay(channel) { reasons.append($0) }
    relay.attach(try SocketEnd(pair[0], keepsPackets: true, on: loop))
    for packet in [[1, 2], [], [3]] as [[UInt8]] { #expect(send(pair[1], packet, packet.count, 0) == packet.count) }
    try Self.run(loop) { channel.sent.count == 2 }
    channel.onEvent?(.received([7, 8, 9]))
    var octets = [UInt8](repeating: 0, count: 10)
    #expect(recv(pair[1], &octets, 10, 0) == 3)
    #expect(send(pair[1], [4], 1, 0) == 1)
    close(pair[1])
    for _ in 0..<10 { try loop.poll() }
    #expect(reasons.isEmpty && channel.sent == [[1, 2], [3]])
    channel.credits = 3
    try Self.run(loop) { !reasons.isEmpty }
    #expect(channel.sent == [[1, 2], [3], [4]] && reasons == [nil])
  }

  @Test("What the device sent last is read though the program's own octets were not; an empty packet hides none")
  func lastWords() throws {
    let loop = try EventLoop()
    var pair: [CInt] = [-1, -1]
    let type = CInt(SOCK_SEQPACKET.rawValue) | CInt(SOCK_NONBLOCK.rawValue)
    #expect(socketpair(AF_UNIX, type, 0, &pair) == 0)
    let channel = ScriptedChannel(0x80)
    channel.credits = 0
    var reasons: [BluetoothError?] = []
    let relay = ChannelRelay(channel) { reasons.append($0) }
    relay.attach(try SocketEnd(pair[0], keepsPackets: true, on: loop))
    for _ in 0..<3 { #expect(send(pair[1], [1], 1, 0) == 1) }
    channel.onEvent?(.received([7]))
    channel.onEvent?(.ended(Self.gone))
    #expect(reasons.count == 1)
    var octets = [UInt8](repeating: 0, count: 10)
    #expect(recv(pair[1], &octets, 10, 0) == 1 && octets[0] == 7)
    #expect(recv(pair[1], &octets, 10, 0) == 0)
    close(pair[1])

    #expect(socketpair(AF_UNIX, type, 0, &pair) == 0)
    let end = try SocketEnd(pair[0], keepsPackets: true, on: loop)
    for packet in [[], [3]] as [[UInt8]] { #expect(send(pair[1], packet, packet.count, 0) == packet.count) }
    close(pair[1])
    #expect(end.read(atMost: 10) == .nothing)
    #expect(end.read(atMost: 10) == .octets([3]))
    #expect(end.read(atMost: 10) == .gone)
  }

  @Test("A program that only sends no more gets what the device sends, and its going is noticed")
  func halfClosed() throws {
    let loop = try EventLoop()
    var pair: [CInt] = [-1, -1]
    #expect(socketpair(AF_UNIX, CInt(SOCK_STREAM.rawValue) | CInt(SOCK_NONBLOCK.rawValue), 0, &pair) == 0)
    let channel = ScriptedChannel(0x80)
    var reasons: [BluetoothError?] = []
    let relay = ChannelRelay(channel) { reasons.append($0) }
    relay.attach(try SocketEnd(pair[0], keepsPackets: false, on: loop))
    #expect(send(pair[1], [1], 1, 0) == 1)
    shutdown(pair[1], CInt(SHUT_WR))
    for _ in 0..<10 { try loop.poll() }
    #expect(channel.sent == [[1]] && reasons.isEmpty && channel.isReading)
    channel.onEvent?(.received([2]))
    var octet: UInt8 = 0
    #expect(recv(pair[1], &octet, 1, 0) == 1 && octet == 2)
    close(pair[1])
    try Self.run(loop) { !reasons.isEmpty }
    #expect(reasons == [nil] && channel.isClosed)
  }
}
