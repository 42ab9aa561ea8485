import Adapter
import Bluetooth
import Fuzzing
import HCI

/// A link whose device sends any fragments: its frames are put together, its commands answered, and channels of both
/// modes opened, used, changed and closed. The packets for the device are put together again and judged.
struct LinkRun {
  /// The device's view of one of its ends.
  private struct Remote {
    var piece: Int
    var credits: Int
  }

  private static let handle: ConnectionHandle = 1

  private var input: FuzzInput
  private var now = Instant.zero
  private var reassembler = ACLReassembler()
  private var machine: SignallingMachine
  private var queue = ACLQueue(length: 27, packets: 4)
  private var flows: [UInt16: ChannelFlow] = [:]
  private var asked: Set<UInt16> = []
  /// Our numbers and the device's.
  private var remotes: [UInt16: UInt16] = [:]
  private var device = ACLReassembler()
  private var ends: [UInt16: Remote] = [:]
  /// The responses to other sizes that wait, each with the pieces that hold from then on.
  private var resizes: [[(remote: UInt16, piece: Int)]] = []
  /// Whether the last of them was not refused by the queue.
  private var isResizeHeard = false
  /// The pieces in the queue, by the device's number of their channel.
  private var queued: [UInt16: Int] = [:]
  /// Pieces of channels that have ended: pieces that had begun.
  private var stale: [UInt16: Int] = [:]

  private static let sizes = ChannelFlow.Sizes(packet: 300, piece: 64)
  private static let own = ChannelEnd(number: 0, packet: 300, piece: 64, credits: sizes.credits)

  init(_ input: FuzzInput) {
    self.input = input
    machine = SignallingMachine(role: .peripheral)
  }

  mutating func run() {
    queue.begin(Self.handle)
    while !input.isEmpty {
      step()
      proceed()
      invariant(flows.count + asked.count <= 64, "\(flows.count) channels")
      invariant(Set(flows.keys) == Set(remotes.keys), "channels without an end")
    }
  }

  private mutating func step() {
    switch input.octet() & 15 {
    case 0: if let request = machine.open(0x80, Self.own, at: now) { ask([request.number], request.actions) }
    case 1:
      guard let request = machine.open(0x80, enhanced: 1 + input.number(below: 5), Self.own, at: now) else { break }
      ask(request.numbers, request.actions)
    case 2: close(number())
    case 3:
      let number = number()
      guard let flow = flows[number], flow.isWritable else { break }
      flows[number]?.send([UInt8](repeating: 7, count: 1 + Int(input.word()) % min(flow.sending.packet, 2000)))
    case 4: read(number())
    case 5:
      now = now.advanced(by: .milliseconds(Int64(input.word())))
      perform(machine.tick(at: now))
    case 6: transmit(input.number(below: 5))
    case 7, 8, 9: send(channel: 5, input.packet())
    case 10, 11: send(channel: number(), input.packet())
    case 12: send(channel: input.word(), input.filler())
    default: receive(isFirst: input.octet() & 1 == 0, input.packet())
    }
  }

  private mutating func number() -> UInt16 { 0x40 + UInt16(input.octet() & 0x3F) }

  private mutating func ask(_ numbers: [UInt16], _ actions: [SignallingMachine.Action]) {
    for number in numbers {
      invariant(flows[number] == nil && asked.insert(number).inserted, "number \(number) is asked for twice")
    }
    perform(actions)
  }

  // MARK: - From the device

  /// The device sends a frame in fragments of a size.
  private mutating func send(channel: UInt16, _ payload: [UInt8]) {
    let octets = L2CAPFrame(channel: channel, payload: payload).octets()
    let size = 1 + input.number(below: 64)
    for start in stride(from: 0, to: octets.count, by: size) {
      receive(isFirst: start == 0, Array(octets[start...].prefix(size)))
    }
  }

  private mutating func receive(isFirst: Bool, _ data: [UInt8]) {
    let packet = ACLDataPacket {
      $0.handle = Self.handle
      $0.boundary = isFirst ? 2 : 1
      $0.data = data[...]
    }
    if let frame = reassembler.receive(packet).frame {
      if frame.channel == L2CAPFrame.Fixed.signalling {
        perform(
          machine.receive(frame.payload, at: now) { psm, _ in psm & 1 == 0 ? .granted(Self.own) : .refused(0x0002) })
      } else if flows[frame.channel] != nil {
        do throws(ChannelFlow.Fault) { try flows[frame.channel]?.receive(frame.payload) } catch { close(frame.channel) }
      }
    }
  }

  private mutating func perform(_ actions: [SignallingMachine.Action]) {
    for action in actions {
      switch action {
      case .send(let packet): send(packet)
      case .opened(let number, let end):
        invariant(asked.remove(number) != nil, "channel \(number) is opened")
        open(number, end)
      case .accepted(let number, _, _, let end):
        invariant(!asked.contains(number), "channel \(number) is accepted")
        open(number, end)
      case .refused(let number, _): invariant(asked.remove(number) != nil, "channel \(number) is refused")
      case .credited(let number, let count):
        ends[remotes[number] ?? 0]?.credits += Int(count)
        do throws(ChannelFlow.Fault) { try flows[number]?.credited(count) } catch { close(number) }
      case .resized(let number, let packet, let piece): resize(number, Int(packet), Int(piece))
      case .closed(let number):
        invariant(flows[number] != nil, "channel \(number) is closed")
        forget(number)
      case .update, .settled: break
      }
    }
  }

  private mutating func open(_ number: UInt16, _ end: ChannelEnd) {
    let sending = ChannelFlow.Sizes(packet: Int(end.packet), piece: Int(end.piece))
    invariant(flows[number] == nil && ends[end.number] == nil, "channel \(number) is open already")
    flows[number] = ChannelFlow(receiving: Self.sizes, sending: sending, credits: end.credits)
    remotes[number] = end.number
    ends[end.number] = Remote(piece: sending.piece, credits: Int(end.credits))
  }

  private mutating func resize(_ number: UInt16, _ packet: Int, _ piece: Int) {
    guard let remote = remotes[number], let end = ends[remote] else { return }
    flows[number]?.resize(ChannelFlow.Sizes(packet: packet, piece: piece))
    ends[remote]?.piece = max(end.piece, piece)
    if isResizeHeard { resizes[resizes.count - 1].append((remote, piece)) }
  }

  /// Nothing more is told of the channel.
  private mutating func close(_ number: UInt16) {
    guard flows[number] != nil else { return }
    forget(number)
    perform(machine.close(number, at: now))
  }

  private mutating func forget(_ number: UInt16) {
    flows[number] = nil
    guard let remote = remotes.removeValue(forKey: number) else { return }
    ends[remote] = nil
    for index in resizes.indices { resizes[index].removeAll { $0.remote == remote } }
    let before = queue.waitingOfChannels(on: Self.handle)
    _ = queue.drop(remote, on: Self.handle)
    let dropped = before - queue.waitingOfChannels(on: Self.handle)
    stale[remote, default: 0] += (queued.removeValue(forKey: remote) ?? 0) - dropped
    invariant(0...1 ~= stale[remote] ?? 0, "\(stale[remote] ?? 0) pieces of an ended channel")
  }

  private mutating func read(_ number: UInt16) {
    while let packet = flows[number]?.nextPacket() {
      invariant(1...Self.sizes.packet ~= packet.count, "a packet of \(packet.count) octets")
    }
    if let credits = flows[number]?.creditsToGive(), credits > 0 { perform(machine.give(credits, on: number)) }
  }

  // MARK: - To the device

  private mutating func send(_ packet: SignallingPacket) {
    let isResized = packet.code == SignallingPacket.Code.reconfigureResponse
    let frame = L2CAPFrame(channel: L2CAPFrame.Fixed.signalling, payload: packet.octets)
    let isAdded = queue.add(frame.octets(behind: ACLDataPacket.prefix), to: Self.handle, isResized ? .last : .control)
    guard isResized else { return }
    isResizeHeard = isAdded
    // Each response has an entry, also one that refuses.
    if isAdded { resizes.append([]) }
  }

  /// Pieces leave while few wait.
  private mutating func proceed() {
    for number in flows.keys.sorted() {
      while queue.waitingOfChannels(on: Self.handle) < 4, let remote = remotes[number],
        let piece = flows[number]?.nextPiece()
      {
        let frame = L2CAPFrame(channel: remote, payload: piece)
        _ = queue.add(frame.octets(behind: ACLDataPacket.prefix), to: Self.handle, .channel)
        queued[remote, default: 0] += 1
      }
    }
    invariant(queue.waiting(on: Self.handle) <= 264, "\(queue.waiting(on: Self.handle)) frames wait")
    while case .packet(let packet) = queue.next(at: now, mayGrow: true) { judge(packet) }
  }

  private mutating func transmit(_ count: Int) {
    _ = queue.completed(count, on: Self.handle, at: now)
    while case .packet(let packet) = queue.next(at: now, mayGrow: true) { judge(packet) }
  }

  /// The device takes a packet.
  private mutating func judge(_ octets: [UInt8]) {
    guard let packet = try? ACLDataPacket(packet: octets) else { return invariant(false, "no packet: \(octets)") }
    invariant(packet.data.count <= 27, "a packet of \(packet.data.count) octets")
    let output = device.receive(packet)
    invariant(output.faults.isEmpty, "\(output)")
    guard let frame = output.frame else { return }
    guard frame.channel == L2CAPFrame.Fixed.signalling else { return judge(frame) }
    let command = SignallingPacket(decoding: frame.payload)
    invariant(command.map { $0.identifier != 0 } ?? false, "a command that cannot be read: \(frame.payload)")
    guard command?.code == SignallingPacket.Code.reconfigureResponse, !resizes.isEmpty else { return }
    for (remote, piece) in resizes.removeFirst() { ends[remote]?.piece = piece }
  }

  private mutating func judge(_ frame: L2CAPFrame) {
    if let old = stale[frame.channel], old > 0 {
      // A later channel may have the number.
      stale[frame.channel] = old - 1
      return
    }
    guard let end = ends[frame.channel] else { return invariant(false, "a piece of no channel") }
    queued[frame.channel, default: 0] -= 1
    invariant(frame.payload.count <= end.piece, "a piece of \(frame.payload.count) octets, \(end.piece) are allowed")
    invariant(end.credits > 0, "a piece without a credit")
    ends[frame.channel]?.credits -= 1
  }
}
