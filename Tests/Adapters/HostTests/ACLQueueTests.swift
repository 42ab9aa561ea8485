import Bluetooth
import HCI
import Host
import Testing

@Suite struct ACLQueueTests {
  private func frame(_ octets: [UInt8]) -> [UInt8] { [UInt8](repeating: 0xEE, count: ACLDataPacket.prefix) + octets }

  /// - Parameter mayGrow: true if another link may be established.
  private func packets(_ queue: inout ACLQueue, at now: Instant, mayGrow: Bool = true) -> [ACLDataPacket] {
    var packets: [ACLDataPacket] = []
    while case .packet(let octets) = queue.next(at: now, mayGrow: mayGrow) {
      guard let packet = try? ACLDataPacket(packet: octets) else { return record(octets) }
      packets.append(packet)
    }
    return packets
  }

  private func record(_ octets: [UInt8]) -> [ACLDataPacket] {
    Issue.record("no packet: \(octets)")
    return []
  }

  /// Takes packets and describes each: its link, whether it is a first fragment, and its octets.
  private func take(_ queue: inout ACLQueue, mayGrow: Bool = true) -> [String] {
    packets(&queue, at: .zero, mayGrow: mayGrow).map {
      "\($0.handle)\($0.boundary == 0 ? ":" : "+")\($0.data.map(String.init).joined(separator: ","))"
    }
  }

  @Test func aFrameIsCutIntoFragmentsAsBuffersAreFree() {
    var queue = ACLQueue(length: 2, packets: 3)
    queue.begin(1)
    #expect(queue.add(frame([1, 2, 3, 4, 5]), to: 1, .data) == true)
    #expect(take(&queue) == ["1:1,2", "1+3,4"])
    #expect(take(&queue) == [])
    #expect(queue.unsent(on: 1) == 3)
    #expect(queue.completed(1, on: 1, at: .zero) == 0)
    #expect(take(&queue) == ["1+5"])
    #expect(queue.waiting(on: 1) == 0)
    #expect(queue.unsent(on: 1) == 2)
  }

  /// With frames that end with a packet, and the longest one.
  @Test(arguments: [0, 23, 24, 50, 77, 65_535], [27, 1021]) func aFrameIsWholeAtTheOtherEnd(_ count: Int, _ length: Int)
  {
    var queue = ACLQueue(length: length, packets: 8)
    var device = ACLReassembler()
    let frame = L2CAPFrame(channel: 0x0141, payload: (0..<count).map { UInt8(truncatingIfNeeded: $0) })
    queue.begin(1)
    #expect(queue.add(frame.octets(behind: ACLDataPacket.prefix), to: 1, .data) == true)
    var frames: [L2CAPFrame] = []
    while queue.unsent(on: 1) > 0 {
      for packet in packets(&queue, at: .zero) {
        #expect(packet.data.count <= length)
        let output = device.receive(packet)
        #expect(output.faults.isEmpty)
        if let frame = output.frame { frames.append(frame) }
      }
      _ = queue.completed(8, on: 1, at: .zero)
    }
    #expect(frames == [frame])
  }

  @Test func framesThatWaitAreTold() {
    var queue = ACLQueue(length: 1, packets: 2)
    queue.begin(1)
    queue.begin(2)
    #expect(queue.next(at: .zero, mayGrow: true) == .idle)
    #expect(queue.add(frame([1, 2]), to: 1, .data) == true)
    #expect(take(&queue) == ["1:1"])
    // The other buffer is kept for link 2.
    #expect(queue.next(at: .zero, mayGrow: true) == .full)
    #expect(queue.add(frame([7]), to: 2, .data) == true)
    #expect(take(&queue) == ["2:7"])
    #expect(queue.next(at: .zero, mayGrow: true) == .full)
    _ = queue.completed(1, on: 1, at: .zero)
    #expect(take(&queue) == ["1+2"])
    #expect(queue.next(at: .zero, mayGrow: true) == .idle, "all buffers are used, and nothing waits")
  }

  @Test func linksTakeTurnsAndAFrameStaysTogether() {
    var queue = ACLQueue(length: 1, packets: 7)
    queue.begin(1)
    queue.begin(2)
    for octet in [UInt8(1), 2] { #expect(queue.add(frame([octet, octet]), to: 1, .data) == true) }
    #expect(queue.add(frame([7]), to: 2, .data) == true)
    #expect(queue.add(frame([9, 9]), to: 1, .control) == true)
    // Control is sent first, but not between the fragments of a frame.
    #expect(take(&queue) == ["1:9", "2:7", "1+9", "1:1", "1+1", "1:2"])
  }

  @Test func channelsAndATTTakeTurns() {
    var queue = ACLQueue(length: 1, packets: 6)
    queue.begin(1)
    for octet in [UInt8(1), 2, 3] { #expect(queue.add(frame([octet]), to: 1, .channel) == true) }
    for octet in [UInt8(7), 8] { #expect(queue.add(frame([octet]), to: 1, .data) == true) }
    #expect(queue.waitingOfChannels(on: 1) == 3)
    #expect(take(&queue) == ["1:1", "1:7", "1:2", "1:8", "1:3"])
    #expect(queue.waitingOfChannels(on: 1) == 0)
  }

  @Test func controlWaitsForTheEndOfAFrameThatHasBegun() {
    var queue = ACLQueue(length: 1, packets: 1)
    queue.begin(1)
    #expect(queue.add(frame([1, 2]), to: 1, .data) == true)
    #expect(take(&queue) == ["1:1"])
    #expect(queue.add(frame([9]), to: 1, .control) == true)
    _ = queue.completed(1, on: 1, at: .zero)
    #expect(take(&queue) == ["1+2"])
    _ = queue.completed(1, on: 1, at: .zero)
    #expect(take(&queue) == ["1:9"])
  }

  @Test func theBuffersOfAnEndedLinkAreFree() {
    var queue = ACLQueue(length: 1, packets: 3)
    queue.begin(1)
    queue.begin(2)
    #expect(queue.add(frame([1, 2, 3]), to: 1, .data) == true)
    #expect(queue.add(frame([6, 7]), to: 2, .data) == true)
    #expect(take(&queue) == ["1:1", "2:6"])
    #expect(take(&queue) == [])
    #expect(queue.end(1) == 2)
    #expect(take(&queue) == ["2+7"])
    // A later report about it is no credit.
    #expect(queue.completed(2, on: 1, at: .zero) == 2)
    #expect(queue.completed(1, on: 2, at: .zero) == 0)
    #expect(queue.add(frame([8, 8]), to: 2, .data) == true)
    #expect(take(&queue) == ["2:8"])
  }

  /// The device of link 1 is out of range, and nothing completes.
  @Test func eachOtherLinkHasABufferLeft() {
    var queue = ACLQueue(length: 1, packets: 4)
    for handle in [UInt16(1), 2, 3] { queue.begin(handle) }
    #expect(queue.add(frame([1, 2, 3, 4]), to: 1, .data) == true)
    #expect(take(&queue) == ["1:1", "1+2"])
    #expect(queue.add(frame([5, 6]), to: 2, .data) == true)
    #expect(take(&queue) == ["2:5"])
    #expect(queue.add(frame([7]), to: 3, .data) == true)
    #expect(take(&queue) == ["3:7"])
    #expect(queue.completed(1, on: 3, at: .zero) == 0)
    // No more than it leaves: the buffer is kept for link 3.
    #expect(take(&queue) == [])
    queue.end(3)
    // A buffer is kept for a future link as well.
    #expect(take(&queue) == [])
    #expect(queue.completed(1, on: 2, at: .zero) == 0)
    #expect(take(&queue) == ["1+3", "2+6"])
  }

  @Test func aBufferIsKeptForALinkToCome() {
    var queue = ACLQueue(length: 1, packets: 2)
    queue.begin(1)
    #expect(queue.add(frame([1, 2, 3]), to: 1, .data) == true)
    #expect(take(&queue) == ["1:1"])
    queue.begin(2)
    #expect(queue.add(frame([7]), to: 2, .data) == true)
    #expect(take(&queue) == ["2:7"])
  }

  /// The number of packets of one link in flight with this number of buffers: alone, and if another link may follow.
  @Test(arguments: [(1, 1, 1), (2, 2, 1), (3, 3, 2), (4, 4, 3), (8, 8, 7)])
  func anOnlyLinkUsesAllBuffers(_ packets: Int, _ alone: Int, _ withOther: Int) {
    for mayGrow in [false, true] {
      var queue = ACLQueue(length: 1, packets: packets)
      queue.begin(1)
      #expect(queue.add(frame([UInt8](repeating: 1, count: 20)), to: 1, .data) == true)
      #expect(take(&queue, mayGrow: mayGrow).count == (mayGrow ? withOther : alone))
      #expect(queue.next(at: .zero, mayGrow: mayGrow) == .full)
      _ = queue.completed(1, on: 1, at: .zero)
      #expect(take(&queue, mayGrow: mayGrow).count == 1)
    }
  }

  @Test func anIdleLinkHasABufferLeftThoughNoneMayCome() {
    var queue = ACLQueue(length: 1, packets: 3)
    queue.begin(1)
    queue.begin(2)
    #expect(queue.add(frame([1, 2, 3]), to: 1, .data) == true)
    #expect(take(&queue, mayGrow: false) == ["1:1", "1+2"])
    #expect(queue.add(frame([7]), to: 2, .data) == true)
    #expect(take(&queue, mayGrow: false) == ["2:7"])
    // Both have one: no other link needs the next.
    _ = queue.completed(1, on: 1, at: .zero)
    #expect(take(&queue, mayGrow: false) == ["1+3"])
  }

  @Test func aLinkOnWhichNothingIsAcknowledgedIsStalled() {
    var queue = ACLQueue(length: 1, packets: 4)
    func after(_ seconds: Int) -> Instant { Instant.zero.advanced(by: .seconds(seconds)) }
    queue.begin(1)
    queue.begin(2)
    #expect(queue.deadline == nil)
    #expect(queue.add(frame([1, 2]), to: 1, .data) == true)
    #expect(queue.add(frame([7]), to: 2, .data) == true)
    #expect(packets(&queue, at: after(1)).count == 3)
    #expect(queue.deadline == after(41))
    #expect(queue.completed(1, on: 1, at: after(20)) == 0)
    #expect(queue.stalled(at: after(40)) == [])
    #expect(queue.stalled(at: after(41)) == [2])
    #expect(queue.stalled(at: after(41)) == [], "told once")
    #expect(queue.deadline == after(60))
    #expect(queue.completed(1, on: 1, at: after(59)) == 0)
    queue.end(2)
    #expect(queue.deadline == nil)
    #expect(queue.stalled(at: after(1000)) == [])
  }

  @Test func theWaitingPiecesOfAChannelAreDropped() {
    var queue = ACLQueue(length: 4, packets: 2)
    queue.begin(1)
    for octet in [UInt8(1), 2] { #expect(queue.add(frame([1, 0, 0x41, 1, octet]), to: 1, .channel) == true) }
    #expect(queue.add(frame([1, 0, 0x41, 0, 9]), to: 1, .channel) == true)
    #expect(take(&queue) == ["1:1,0,65,1"])
    #expect(queue.drop(0x0141, on: 1) == true)
    #expect(queue.drop(0x0141, on: 1) == false)
    #expect(queue.drop(0x0141, on: 2) == false)
    // A piece that has begun stays whole.
    var packets: [String] = []
    for _ in 0..<3 {
      _ = queue.completed(1, on: 1, at: .zero)
      packets += take(&queue)
    }
    #expect(packets == ["1+1", "1:1,0,65,0", "1+9"])
  }

  @Test func manyIdleLinksLeaveHalfOfTheBuffers() {
    var queue = ACLQueue(length: 1, packets: 4)
    for handle in UInt16(1)...9 { queue.begin(handle) }
    #expect(queue.add(frame([1, 2, 3, 4]), to: 1, .data) == true)
    #expect(take(&queue) == ["1:1", "1+2"])
  }

  @Test func aHandleThatIsUsedAgainBeginsAnew() {
    var queue = ACLQueue(length: 1, packets: 1)
    queue.begin(1)
    #expect(queue.add(frame([1, 2]), to: 1, .data) == true)
    #expect(take(&queue) == ["1:1"])
    queue.begin(1)
    #expect(queue.add(frame([5]), to: 1, .data) == true)
    #expect(take(&queue) == ["1:5"])
  }

  @Test func moreCompletedPacketsThanWereSentAreClamped() {
    var queue = ACLQueue(length: 1, packets: 1)
    queue.begin(1)
    #expect(queue.add(frame([1, 2, 3]), to: 1, .data) == true)
    #expect(take(&queue) == ["1:1"])
    #expect(queue.completed(5, on: 1, at: .zero) == 4)
    #expect(take(&queue) == ["1+2"])
    #expect(take(&queue) == [])
  }

  @Test func framesBeyondTheLimitAreRefused() {
    var queue = ACLQueue(length: 27, packets: 1)
    #expect(queue.add(frame([1]), to: 1, .data) == false, "there is no such link")
    queue.begin(1)
    for _ in 0..<256 { #expect(queue.add(frame([1]), to: 1, .data) == true) }
    #expect(queue.add(frame([1]), to: 1, .control) == false)
    #expect(queue.waiting(on: 1) == 256)
  }
}
