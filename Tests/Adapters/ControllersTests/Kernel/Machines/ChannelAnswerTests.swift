import Adapter
import Bluetooth
import Testing

@testable import Controllers

/// Answers of devices to requests for channels, as octets of a raw socket.
@Suite struct ChannelAnswerTests {
  /// ACL data on handle 0x40: `flags` are 0 for our packets, 2 for a device's.
  private func packet(_ flags: UInt8, _ command: [UInt8], handle: UInt8 = 0x40) -> [UInt8] {
    let frame = [UInt8(command.count), 0, 5, 0] + command
    return [2, handle, flags << 4, UInt8(frame.count), 0] + frame
  }
  private let enhanced: [UInt8] = [0x17, 3, 10, 0, 0x90, 0, 0, 0x20, 0xF7, 0, 8, 0, 0x40, 0]
  private let old: [UInt8] = [0x14, 3, 10, 0, 0x90, 0, 0x40, 0, 0, 0x20, 0xF7, 0, 8, 0]

  private func refusal(_ mode: ChannelMode, _ packets: [[UInt8]]) -> BluetoothError {
    var answer = ChannelAnswer(handle: 0x40, psm: 0x90)
    for packet in packets { answer.handle(packet) }
    return answer.refusal(mode)
  }

  @Test(arguments: [
    (0x02, "it does not listen on PSM 144"), (0x04, "no room"), (0x05, "an authenticated link"), (0x06, "allow it"),
    (0x07, "a longer key"), (0x08, "an encrypted link"), (0x0A, "connect again"), (0x0B, "receiveMTU"),
    (0x30, "the reason 0x30"),
  ])
  func results(_ result: UInt8, _ words: String) {
    // MTU, MPS, credits and the result, behind the channel's number in the old mode.
    let response: [UInt8] = [0, 8, 0, 8, 0, 0, result, 0]
    let new = refusal(.enhanced, [packet(0, enhanced), packet(2, [0x18, 3, 8, 0] + response)])
    let name = result == 0x04 ? "limitReached" : "connectionFailed"
    #expect(new.name == name && new.message.contains(words), "\(new)")
    let former = refusal(.leCreditBased, [packet(0, old), packet(2, [0x15, 3, 10, 0, 0, 0] + response)])
    #expect(former == new)
  }

  @Test("A device that does not know the command has no enhanced channels, or none at all")
  func rejected() {
    let reject = packet(2, [0x01, 3, 2, 0, 0, 0])
    let new = refusal(.enhanced, [packet(0, enhanced), reject])
    #expect(new.name == "notSupported" && new.message.contains("leave out \"mode\""))
    let former = refusal(.leCreditBased, [packet(0, old), reject])
    #expect(former.name == "notSupported" && former.message == "the device has no L2CAP channels")
  }

  @Test("What is of another link, number, identifier or direction, or cut short, says nothing")
  func others() {
    let response: [UInt8] = [0x18, 3, 8, 0, 0, 8, 0, 8, 0, 0, 5, 0]
    let asked = packet(0, enhanced)
    let vague = refusal(.enhanced, [])
    #expect(vague.message.contains("or has no room"))
    var otherNumber = enhanced
    otherNumber[4] = 0x91
    for packets in [
      [asked, packet(2, response, handle: 0x41)], [packet(0, enhanced, handle: 0x41), packet(2, response)],
      [packet(0, otherNumber), packet(2, response)], [packet(2, enhanced), packet(2, response)],
      [asked, packet(0, response)], [asked, packet(2, [0x18, 4] + response[2...])],
    ] { #expect(refusal(.enhanced, packets) == vague) }
    for count in 0..<packet(2, response).count {
      #expect(refusal(.enhanced, [asked, Array(packet(2, response).prefix(count))]) == vague)
    }
  }

  @Test("When the kernel asks again, the answer to the last request counts")
  func again() {
    var second = enhanced
    second[1] = 4
    let packets = [
      packet(0, enhanced), packet(2, [0x18, 3, 8, 0, 0, 8, 0, 8, 0, 0, 8, 0]), packet(0, second),
      packet(2, [0x18, 4, 8, 0, 0, 8, 0, 8, 0, 0, 4, 0]),
    ]
    #expect(refusal(.enhanced, packets).message.contains("no room"))
    #expect(refusal(.enhanced, Array(packets.dropLast())).message.contains("or has no room"))
  }

  @Test("The pieces that both ends ask for; none of a channel that was refused")
  func pieces() {
    var new = ChannelAnswer(handle: 0x40, psm: 0x90)
    new.handle(packet(0, enhanced))
    #expect(new.pieces == nil)
    // MTU 2048, MPS 200, credits, the result and the channel's number.
    new.handle(packet(2, [0x18, 3, 10, 0, 0, 8, 200, 0, 8, 0, 0, 0, 0x41, 0]))
    #expect(new.answer == .result(0) && new.pieces == ChannelPieces(receive: 247, send: 200))
    var former = ChannelAnswer(handle: 0x40, psm: 0x90)
    former.handle(packet(0, old))
    former.handle(packet(2, [0x15, 3, 10, 0, 0x41, 0, 0, 8, 0x2C, 1, 8, 0, 0, 0]))
    #expect(former.answer == .result(0) && former.pieces == ChannelPieces(receive: 247, send: 300))
    var refused = ChannelAnswer(handle: 0x40, psm: 0x90)
    refused.handle(packet(0, old))
    refused.handle(packet(2, [0x15, 3, 10, 0, 0, 0, 0, 8, 0x2C, 1, 8, 0, 4, 0]))
    #expect(refused.answer == .result(4) && refused.pieces == nil)
  }

  @Test("Of two channels to one number that are asked for at once each has its own answer")
  func atOnce() {
    // The response with our channel 0x42 and pieces of 100 octets.
    let secondOld: [UInt8] = [0x14, 4, 10, 0, 0x90, 0, 0x42, 0, 0, 0x20, 100, 0, 8, 0]
    let secondNew: [UInt8] = [0x17, 4, 10, 0, 0x90, 0, 0, 0x20, 100, 0, 8, 0, 0x42, 0]
    let former: [[UInt8]] = [
      packet(0, old), packet(0, secondOld), packet(2, [0x15, 3, 10, 0, 0x41, 0, 0, 8, 200, 0, 8, 0, 0, 0]),
      packet(2, [0x15, 4, 10, 0, 0, 0, 0, 8, 200, 0, 8, 0, 2, 0]),
    ]
    let new: [[UInt8]] = [
      packet(0, enhanced), packet(0, secondNew), packet(2, [0x18, 3, 10, 0, 0, 8, 200, 0, 8, 0, 0, 0, 0x41, 0]),
      packet(2, [0x18, 4, 8, 0, 0, 8, 200, 0, 8, 0, 2, 0]),
    ]
    for packets in [former, new] {
      var first = ChannelAnswer(handle: 0x40, psm: 0x90, channel: 0x40)
      var second = ChannelAnswer(handle: 0x40, psm: 0x90, channel: 0x42)
      for packet in packets {
        first.handle(packet)
        second.handle(packet)
      }
      #expect(first.answer == .result(0) && first.pieces == ChannelPieces(receive: 247, send: 200))
      #expect(second.answer == .result(2) && second.pieces == nil)
    }
  }
}
