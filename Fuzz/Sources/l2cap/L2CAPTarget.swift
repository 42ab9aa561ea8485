import Adapter
import Bluetooth
import Fuzzing

/// L2CAP: the signalling of a link whose device sends anything, both ends of a channel, and a whole link in fragments.
@main
enum L2CAPTarget {
  static func main() {
    fuzz { octets in
      var input = FuzzInput(octets)
      switch input.octet() & 3 {
      case 0, 2: signal(&input)
      case 1: exchange(&input)
      default:
        var run = LinkRun(input)
        run.run()
      }
    }
  }

  private static func signal(_ input: inout FuzzInput) {
    var machine = SignallingMachine(role: input.octet() & 1 == 0 ? .central : .peripheral)
    let own = ChannelEnd(number: 0, packet: 100, piece: 64, credits: 10)
    var (asked, open): (Set<UInt16>, Set<UInt16>) = ([], [])
    var now = Instant.zero
    while !input.isEmpty {
      var actions: [SignallingMachine.Action] = []
      switch input.octet() & 15 {
      case 0:
        guard let request = machine.open(input.word(), own, at: now) else {
          invariant(asked.count + open.count <= 64, "more channels than numbers")
          break
        }
        invariant(asked.insert(request.number).inserted, "a number that is asked for already")
        actions = request.actions
      case 1:
        let number = 0x40 + UInt16(input.octet() & 0x3F)
        actions = machine.close(number, at: now)
        invariant(open.remove(number) != nil || actions.isEmpty, "a channel is closed that is not open")
      case 2: actions = machine.give(input.word(), on: 0x40 + UInt16(input.octet() & 0x3F))
      case 3: actions = machine.request(ConnectionParameters(), at: now)
      case 8:
        let count = 1 + Int(input.octet()) % 5
        guard let request = machine.open(input.word(), enhanced: count, own, at: now) else {
          invariant(asked.count + open.count <= 64, "more channels than numbers")
          break
        }
        for number in request.numbers { invariant(asked.insert(number).inserted, "a number that is asked for already") }
        actions = request.actions
      case 4:
        now = now.advanced(by: .milliseconds(Int64(input.word())))
        actions = machine.tick(at: now)
        invariant(machine.deadline.map { $0 > now } ?? true, "a deadline that is over")
      default:
        let isGranted = input.octet() & 1 == 0
        actions = machine.receive(input.packet(), at: now) { _, _ in isGranted ? .granted(own) : .refused(0x0002) }
      }
      for action in actions { check(action, &asked, &open) }
    }
  }

  private static func check(
    _ action: SignallingMachine.Action, _ asked: inout Set<UInt16>, _ open: inout Set<UInt16>
  ) {
    switch action {
    case .send(let packet):
      invariant(packet.identifier != 0, "a command without an identifier")
      invariant(SignallingPacket(decoding: packet.octets) == packet, "a command that cannot be read: \(packet)")
    case .opened(let number, let end):
      invariant(asked.remove(number) != nil && open.insert(number).inserted, "channel \(number) is opened")
      invariant(end.packet >= 23 && end.piece >= 23, "a channel with \(end)")
    case .refused(let number, _): invariant(asked.remove(number) != nil, "channel \(number) is refused")
    case .accepted(let number, _, _, let end):
      invariant(open.insert(number).inserted && !asked.contains(number), "channel \(number) is accepted")
      invariant(end.packet >= 23 && end.piece >= 23, "a channel with \(end)")
    case .credited(let number, let count):
      invariant(open.contains(number) && count > 0, "channel \(number) has \(count) credits")
    case .closed(let number): invariant(open.remove(number) != nil, "channel \(number) is closed")
    case .resized(let number, let packet, let piece):
      invariant(open.contains(number) && packet >= 64 && piece >= 64, "channel \(number) takes \(packet), \(piece)")
    case .update, .settled: break
    }
  }

  /// One end sends, the other one receives; pieces may be made up.
  private static func exchange(_ input: inout FuzzInput) {
    let sizes = ChannelFlow.Sizes(packet: 23 + Int(input.word()) % 2000, piece: 23 + Int(input.octet()))
    var sender = ChannelFlow(receiving: sizes, sending: sizes, credits: sizes.credits)
    var receiver = sender
    var sent: [[UInt8]] = []
    var isFaithful = true
    while !input.isEmpty {
      switch input.octet() & 7 {
      case 0, 1, 2:
        let packet = Array(input.filler().prefix(sizes.packet))
        guard sender.isWritable, !packet.isEmpty else { break }
        sender.send(packet)
        sent.append(packet)
      case 3:
        isFaithful = false
        guard (try? receiver.receive(input.packet())) != nil else { return }
      case 4:
        isFaithful = false
        guard (try? sender.credited(input.word())) != nil else { return }
      case 5: read(&receiver, &sender, sizes, &sent, isFaithful)
      default: guard transmit(&sender, &receiver, isFaithful) else { return }
      }
    }
    // All packets arrive.
    for _ in 0..<1000 where isFaithful && !sent.isEmpty {
      guard transmit(&sender, &receiver, isFaithful) else { return }
      read(&receiver, &sender, sizes, &sent, isFaithful)
    }
    invariant(!isFaithful || sent.isEmpty, "\(sent.count) packets do not arrive")
  }

  /// - Returns: false if the receiver closes the channel.
  private static func transmit(_ sender: inout ChannelFlow, _ receiver: inout ChannelFlow, _ isFaithful: Bool) -> Bool {
    while let piece = sender.nextPiece() {
      do throws(ChannelFlow.Fault) {
        try receiver.receive(piece)
      } catch {
        invariant(!isFaithful, "\(error)")
        return false
      }
    }
    return true
  }

  private static func read(
    _ receiver: inout ChannelFlow, _ sender: inout ChannelFlow, _ sizes: ChannelFlow.Sizes, _ sent: inout [[UInt8]],
    _ isFaithful: Bool
  ) {
    while let packet = receiver.nextPacket() {
      invariant(1...sizes.packet ~= packet.count, "a packet of \(packet.count) octets")
      guard isFaithful else { continue }
      invariant(packet == sent.first, "another packet arrives than was sent")
      sent.removeFirst()
    }
    let credits = receiver.creditsToGive()
    invariant(credits <= 2 * sizes.credits, "\(credits) credits at once")
    do throws(ChannelFlow.Fault) { try sender.credited(credits) } catch { invariant(!isFaithful, "\(error)") }
  }
}
