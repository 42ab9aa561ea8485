import Adapter
import Bluetooth
import HCI
import Testing

@testable import Host
@testable import Controllers

/// An octet string that a test writes with blanks between its fields.
func octets(_ text: String) throws -> [UInt8] { try #require(Hex.decode(text.filter { $0 != " " }), "\(text)") }

/// The octets as text without blanks.
func plain(_ text: String) -> String { text.filter { $0 != " " }.lowercased() }

/// A link on which we are peripheral, to a scripted device: its frames are written as octets, first the number of the
/// channel. The device knows PSM 0x80; its channels accept packets of 300 octets in pieces of 247.
final class FrameStage {
  static let handle: ConnectionHandle = 0x40
  /// Requests of a device that accepts packets of 200 octets in pieces of 64, and gives 3 credits.
  static let requests: [ChannelMode: String] = [
    .leCreditBased: "0500 14 01 0a00 8000 4100 c800 4000 0300", .enhanced: "0500 17 01 0a00 8000 c800 4000 0300 4100",
  ]
  static let responses: [ChannelMode: String] = [
    .leCreditBased: "0500 15 01 0a00 4000 2c01 f700 1000 0000", .enhanced: "0500 18 01 0a00 2c01 f700 1000 0000 4000",
  ]

  let stage: HostStage
  let link: any Link
  private(set) var channels: [any Channel] = []
  private(set) var packets: [[UInt8]] = []
  private(set) var ends: [BluetoothError] = []
  /// The outcomes of channels that we open.
  private(set) var results: [Result<any Channel, BluetoothError>] = []
  private var told = 0

  init(level: Int = 1, _ change: (ScriptedController) -> Void = { _ in }) throws {
    stage = try HostStage {
      $0.returned[0x2002] = [251, 0, 16]
      change($0)
    }
    _ = try stage.adapter.publishChannel(0x80, ChannelParameters(receiveMTU: 300, level: level))
    try stage.controller.tell(HostStage.connected(Self.handle))
    try stage.settle()
    link = try #require(stage.links.first)
    link.onEvent = { [unowned self] event in if case .channel(let channel) = event { add(channel) } }
  }

  /// A stage on which the device has opened a channel: 0x41 at the device, 0x40 here.
  static func opened(_ mode: ChannelMode) throws -> FrameStage {
    let far = try FrameStage()
    try far.exchange(requests[mode] ?? "", responses[mode] ?? "")
    #expect(far.channels.map(\.mode) == [mode])
    return far
  }

  var channel: any Channel { get throws { try #require(channels.first) } }

  private func add(_ channel: any Channel) {
    channels.append(channel)
    channel.onEvent = { [unowned self] event in
      switch event {
      case .received(let packet): packets.append(packet)
      case .writable: break
      case .ended(let error): ends.append(error)
      }
    }
  }

  /// We open a channel.
  func open(_ psm: UInt16, _ mode: ChannelMode) throws {
    link.openChannel(to: psm, ChannelParameters(receiveMTU: 300, mode: mode)) { [unowned self] result in
      results.append(result)
      if case .success(let channel) = result { add(channel) }
    }
    try stage.settle()
  }

  /// The device sends a frame.
  func send(_ frame: String) throws { try send(octets(frame)) }

  func send(_ frame: [UInt8]) throws {
    let length = frame.count - 2
    try sendPacket([UInt8(length & 0xFF), UInt8(length >> 8)] + frame)
  }

  /// The device sends a packet of the link layer: a whole frame, or a piece of one.
  func sendPacket(_ octets: [UInt8], isFirst: Bool = true) throws {
    try stage.controller.send([
      .acl(
        ACLDataPacket {
          $0.handle = Self.handle
          $0.boundary = isFirst ? 2 : 1
          $0.data = octets[...]
        })
    ])
    try stage.settle()
  }

  /// The frames received by the device since the last call, reassembled from fragments.
  func received() throws -> [String] {
    var frames: [[UInt8]] = []
    while told < stage.controller.data.count {
      let new = stage.controller.data[told...]
      told = stage.controller.data.count
      for packet in new {
        if packet.boundary == 0 {
          frames.append(Array(packet.data.dropFirst(2)))
        } else {
          frames[frames.count - 1] += packet.data
        }
      }
      try stage.controller.tell(
        .numberOfCompletedPackets(
          NumberOfCompletedPackets {
            $0.links = [
              NumberOfCompletedPackets.Link {
                $0.handle = Self.handle
                $0.packets = UInt16(new.count)
              }
            ]
          }))
      try stage.settle()
    }
    return frames.map { Hex.encode($0).lowercased() }
  }

  /// The device sends a frame and gets these.
  func exchange(_ frame: String, _ answers: String..., location: SourceLocation = #_sourceLocation) throws {
    try send(frame)
    #expect(try received() == answers.map(plain), "\(frame)", sourceLocation: location)
  }
}
