import Adapter
import Bluetooth
import HCI
import Testing

@testable import Host
@testable import Controllers

/// Channels of an adapter over a scripted controller, which is the device as well.
@Suite struct HostChannelTests {
  /// A device that has opened a channel to PSM 0x80, with 3 credits; it accepts packets of 200 octets in pieces of 64.
  private final class Opened {
    let stage: HostStage
    var packets: [[UInt8]] = []
    var ends: [BluetoothError] = []
    var writable = 0
    private(set) var channel: (any Channel)?
    private var told = 0

    /// - Parameters:
    ///   - length: the octets of a packet of the controller.
    ///   - buffers: the number of packets it accepts.
    init(
      _ parameters: ChannelParameters = ChannelParameters(receiveMTU: 100), length: UInt8 = 251, buffers: UInt8 = 8
    ) throws {
      stage = try HostStage { $0.returned[0x2002] = [length, 0, buffers] }
      #expect(try stage.adapter.publishChannel(0x80, parameters) == 0x80)
      try stage.controller.tell(HostStage.connected(0x40))
      try stage.settle()
      let link = try #require(stage.links.first)
      link.onEvent = { [unowned self] event in
        guard case .channel(let channel) = event else { return }
        self.channel = channel
        channel.onEvent = { [unowned self] event in
          switch event {
          case .received(let packet): packets.append(packet)
          case .writable: writable += 1
          case .ended(let error): ends.append(error)
          }
        }
      }
      try signal(0x14, [0x80, 0x41, 200, 64, 3])
    }

    /// The device sends a frame.
    func send(_ payload: [UInt8], on channel: UInt16 = 0x40) throws {
      let frame = L2CAPFrame(channel: channel, payload: payload)
      try stage.controller.send([
        .acl(
          ACLDataPacket {
            $0.handle = 0x40
            $0.boundary = 2
            $0.data = frame.octets()[...]
          })
      ])
      try stage.settle()
    }

    func signal(_ code: UInt8, _ words: [UInt16]) throws {
      try send(SignallingPacket(code: code, identifier: 9, words: words).octets, on: L2CAPFrame.Fixed.signalling)
    }

    /// The frames received by the device since the last call, each with its channel.
    func received() throws -> [L2CAPFrame] {
      let new = stage.controller.data[told...]
      told = stage.controller.data.count
      if !new.isEmpty {
        try stage.controller.tell(
          .numberOfCompletedPackets(
            NumberOfCompletedPackets {
              $0.links = [
                NumberOfCompletedPackets.Link {
                  $0.handle = 0x40
                  $0.packets = UInt16(new.count)
                }
              ]
            }))
        try stage.settle()
      }
      return new.map {
        let octets = Array($0.data)
        return L2CAPFrame(channel: UInt16(octets[2]) | UInt16(octets[3]) << 8, payload: Array(octets[4...]))
      }
    }

    static func signal(_ code: UInt8, _ identifier: UInt8, _ words: [UInt16]) -> L2CAPFrame {
      L2CAPFrame(channel: 5, payload: SignallingPacket(code: code, identifier: identifier, words: words).octets)
    }
  }

  @Test func packetsGoBothWaysAsThereAreCredits() throws {
    let opened = try Opened()
    #expect(try opened.received() == [Opened.signal(0x15, 9, [0x40, 100, 102, 16, 0])])
    let channel = try #require(opened.channel)
    #expect((channel.receiveMTU, channel.sendMTU) == (100, 200))
    channel.send([UInt8](repeating: 7, count: 200))
    #expect(!channel.isWritable)
    try opened.stage.settle()
    #expect(try opened.received().map(\.payload.count) == [64, 64, 64])
    #expect(opened.writable == 0)
    try opened.signal(0x16, [0x41, 1])
    #expect(try opened.received().map(\.payload.count) == [10])
    #expect(opened.writable == 1 && channel.isWritable)

    // Nothing is delivered, and no credits are given, before the channel is read.
    for number in UInt8(0)..<16 { try opened.send([1, 0, number]) }
    #expect(opened.packets.isEmpty)
    #expect(try opened.received().isEmpty)
    channel.isReading = true
    try opened.stage.settle()
    #expect(opened.packets == (UInt8(0)..<16).map { [$0] })
    #expect(try opened.received() == [Opened.signal(0x16, 1, [0x40, 16])])
  }

  @Test func piecesFillTheControllersPackets() throws {
    let opened = try Opened(length: 50)
    _ = try opened.received()
    let channel = try #require(opened.channel)
    #expect(channel.pieces == ChannelPieces(receive: 102, send: 64), "pieces of 46 octets take 5 credits, not 3")
    try opened.signal(0x14, [0x80, 0x42, 100, 64, 3])
    #expect(opened.channel?.pieces == ChannelPieces(receive: 102, send: 46))
    opened.channel?.send([UInt8](repeating: 7, count: 100))
    try opened.stage.settle()
    #expect(try opened.received().dropFirst().map(\.payload.count) == [46, 46, 10])
  }

  @Test func aDeviceThatBreaksTheRulesLosesTheChannel() throws {
    let opened = try Opened()
    _ = try opened.received()
    opened.channel?.isReading = true
    try opened.send([1, 0, 5])
    // The packet exceeds our limit.
    try opened.send([101, 0, 5])
    #expect(opened.packets == [[5]])
    #expect(opened.ends.count == 1)
    #expect(try opened.received() == [Opened.signal(0x06, 1, [0x41, 0x40])])
    try opened.send([1, 0, 6])
    #expect(opened.packets.count == 1)
  }

  @Test func earlierPacketsAreReadBeforeTheEnd() throws {
    for endsLink in [true, false] {
      let opened = try Opened()
      _ = try opened.received()
      try opened.send([1, 0, 5])
      if endsLink {
        try opened.stage.controller.tell(HostStage.disconnected(0x40))
        try opened.stage.settle()
      } else {
        try opened.signal(0x06, [0x40, 0x41])
        #expect(try opened.received() == [Opened.signal(0x07, 9, [0x40, 0x41])])
      }
      #expect(opened.packets.isEmpty && opened.ends.isEmpty)
      opened.channel?.isReading = true
      try opened.stage.settle()
      #expect(opened.packets == [[5]] && opened.ends.count == 1)
    }
  }

  @Test func sentPacketsLeaveBeforeAChannelIsClosed() throws {
    let opened = try Opened()
    _ = try opened.received()
    opened.channel?.send([UInt8](repeating: 7, count: 200))
    opened.channel?.close()
    try opened.stage.settle()
    #expect(try opened.received().count == 3)
    try opened.signal(0x16, [0x41, 1])
    let last = try opened.received()
    #expect(last.map(\.channel) == [0x41, L2CAPFrame.Fixed.signalling])
    #expect(last.last == Opened.signal(0x06, 1, [0x41, 0x40]))

    // A device that gives no credits is not waited for longer than 10 s.
    let other = try Opened()
    _ = try other.received()
    other.channel?.send([UInt8](repeating: 7, count: 200))
    other.channel?.close()
    try other.stage.wait(.milliseconds(9999))
    #expect(try other.received().count == 3)
    try other.stage.wait(.milliseconds(1))
    #expect(try other.received() == [Opened.signal(0x06, 1, [0x41, 0x40])])
  }

  /// A later channel may have the number at the device.
  @Test(arguments: [true, false]) func piecesThatWaitEndWithTheirChannel(_ isClosedByDevice: Bool) throws {
    let opened = try Opened(buffers: 1)
    _ = try opened.received()
    opened.channel?.send([UInt8](repeating: 7, count: 200))
    try opened.stage.settle()
    if isClosedByDevice {
      try opened.signal(0x06, [0x40, 0x41])
    } else {
      // The packet exceeds our limit.
      try opened.send([101, 0, 5])
    }
    let end = isClosedByDevice ? Opened.signal(0x07, 9, [0x40, 0x41]) : Opened.signal(0x06, 1, [0x41, 0x40])
    #expect(try opened.received().map(\.channel) == [0x41])
    #expect(try opened.received() == [end])
    #expect(try opened.received() == [])
  }

  @Test func aListenerMayWantProtection() throws {
    let opened = try Opened(ChannelParameters(receiveMTU: 100, level: 2))
    #expect(opened.channel == nil)
    // Insufficient Authentication: there is no bond with keys for encryption.
    #expect(try opened.received() == [Opened.signal(0x15, 9, [0, 0, 0, 0, 5])])
  }

  @Test func weOpenAChannel() throws {
    let opened = try Opened()
    _ = try opened.received()
    let link = try #require(opened.stage.links.first)
    var results: [Result<any Channel, BluetoothError>] = []
    link.openChannel(to: 0x90, ChannelParameters(receiveMTU: 100)) { results.append($0) }
    link.openChannel(to: 0x91, ChannelParameters(receiveMTU: 100)) { results.append($0) }
    try opened.stage.settle()
    #expect(
      try opened.received() == [
        Opened.signal(0x14, 1, [0x90, 0x41, 100, 102, 16]), Opened.signal(0x14, 2, [0x91, 0x42, 100, 102, 16]),
      ])
    #expect(results.isEmpty)
    try opened.send([0x15, 1, 10, 0, 0x44, 0, 200, 0, 64, 0, 3, 0, 0, 0], on: 5)
    try opened.send([0x15, 2, 10, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0], on: 5)
    #expect(results.count == 2)
    #expect(try results[0].get().sendMTU == 200)
    #expect(throws: GAPError.connectionFailed.error("the device refused the channel: it does not listen on PSM 145")) {
      _ = try results[1].get()
    }
    // The end of the link ends requests.
    link.openChannel(to: 0x93, ChannelParameters(receiveMTU: 100)) { results.append($0) }
    try opened.stage.controller.tell(HostStage.disconnected(0x40))
    try opened.stage.settle()
    #expect(results.count == 3)
  }
}
