import Adapter
import AdapterParts
import Bluetooth
import Testing

@testable import KernelAdapter

/// Channels that devices open, on a scripted kernel.
struct AcceptedChannelTests {
  private let phone = DeviceAddress(value: 0xC011_2233_4455, kind: .random)

  @Test("a channel is closed if its link lacks the level that its number takes", arguments: [1, 2, 3, 4])
  func level(_ level: Int) throws {
    let stage = try KernelStage.on()
    _ = try stage.adapter.publishChannel(0x80, ChannelParameters(level: level))
    try stage.kernel.connected(phone, 0x40)
    try stage.kernel.offer(phone, 0x40)
    try stage.wait(.milliseconds(200))
    var channels: [any Channel] = []
    try #require(stage.links.first).onEvent = { if case .channel(let channel) = $0 { channels.append(channel) } }
    // The kernel has let it through, on a link without encryption.
    let (ours, theirs) = try ScriptedKernel.pair()
    let socket = try #require(stage.kernel.listening.open[0x80])
    socket.offer(.success(AcceptedChannel(descriptor: theirs, handle: 0x40)))
    try stage.settle()
    #expect(channels.map(\.psm) == (level == 1 ? [0x80] : []))
    #expect(theirs.isOpen == (level == 1))
    #expect(stage.log.all.contains { $0.contains("a channel was closed") } == (level > 1))
    ours.close()
  }
}
