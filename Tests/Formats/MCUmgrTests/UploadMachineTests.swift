import Bluetooth
import BluetoothCrypto
import MCUmgr
import Testing

/// The upload machine and a device of a few lines, packet by packet.
@Suite struct UploadMachineTests {
  /// A device that keeps parts in order, and answers with the offset that it wants.
  private struct FakeDevice {
    var octets: [UInt8] = []
    var length = 0
    var hash: [UInt8]?
    /// Octets of a packet; longer frames are not joined.
    var packet = Int.max

    mutating func receive(_ frame: ManagementFrame) -> ManagementFrame {
      guard frame.encoded.count <= packet else { return answer(frame, [("rc", .unsigned(9))]) }
      guard case .upload(let part)? = ManagementRequest(frame) else { return answer(frame, [("rc", .unsigned(3))]) }
      if let beginning = part.beginning, part.offset == 0, hash != beginning.hash || length == 0 {
        (octets, length, hash) = ([], beginning.length, beginning.hash)
      }
      if part.offset == octets.count { octets += part.data }
      defer { if octets.count == length { length = 0 } }
      return answer(frame, [("off", .unsigned(UInt64(length == 0 ? 0 : octets.count)))])
    }

    func answer(_ frame: ManagementFrame, _ members: [(String, CBORValue)]) -> ManagementFrame {
      let pairs = members.map { CBORPair(key: .text($0.0), value: $0.1) }
      return ManagementFrame(
        .writeResponse, group: frame.group, command: frame.command, sequence: frame.sequence, payload: .map(pairs))
    }
  }

  private static let file = (0..<5000).map { UInt8(truncatingIfNeeded: $0 * 31) }
  private static let buffers = ManagementParameters(bufferSize: 256, bufferCount: 5)

  private func machine() -> UploadMachine { UploadMachine(Self.file, hash: SHA256.hash(Self.file), sequence: 250) }

  /// Runs to the end, with every so many answers or requests lost.
  private func run(
    _ machine: inout UploadMachine, _ device: inout FakeDevice, losing loses: (Int, Bool, inout FakeDevice) -> Bool
  ) {
    var now = Instant.zero
    var waiting = machine.linkIsUp(packet: 244, parameters: Self.buffers, now: now)
    var number = 0
    while !machine.hasEnded {
      guard !waiting.isEmpty else {
        guard let deadline = machine.deadline else { return }
        now = max(now, deadline)
        waiting = machine.timePassed(now: now)
        continue
      }
      let frame = waiting.removeFirst()
      number += 1
      guard !loses(number, false, &device) else { continue }
      let answer = device.receive(frame)
      guard !loses(number, true, &device) else { continue }
      now = now.advanced(by: .milliseconds(10))
      waiting += machine.received(answer, now: now)
    }
  }

  @Test("all octets arrive, and the window grows to the buffers of the device")
  func smooth() {
    var (machine, device) = (machine(), FakeDevice())
    run(&machine, &device) { _, _, _ in false }
    #expect(machine.state == .finished && device.octets == Self.file && machine.window == 4)
    #expect(machine.offset == Self.file.count && machine.deadline == nil)
  }

  @Test("all octets arrive though requests and answers are lost", arguments: 2..<12)
  func losses(every: Int) {
    for isAnswer in [false, true] {
      var (machine, device) = (machine(), FakeDevice())
      run(&machine, &device) { number, answer, _ in answer == isAnswer && number % every == 0 }
      #expect(machine.state == .finished && device.octets == Self.file, "every \(every), answers: \(isAnswer)")
    }
  }

  @Test("the last answer is lost, and the device has forgotten the upload")
  func lastAnswer() {
    var (machine, device) = (machine(), FakeDevice())
    var lost = false
    run(&machine, &device) { _, answer, device in
      guard answer, device.octets.count == Self.file.count, !lost else { return false }
      lost = true
      return true
    }
    #expect(lost && machine.state == .finished && device.octets == Self.file)
  }

  @Test("after a lost link it continues where the device is")
  func resumption() throws {
    var (machine, device) = (machine(), FakeDevice())
    var waiting = machine.linkIsUp(packet: 244, parameters: Self.buffers, now: .zero)
    while device.octets.count < 2000 {
      waiting += machine.received(device.receive(waiting.removeFirst()), now: .zero)
    }
    machine.linkIsLost()
    #expect(machine.state == .waiting && machine.deadline == nil)
    // Answers of the old link are not meant.
    #expect(machine.received(device.receive(waiting.removeFirst()), now: .zero).isEmpty)
    let had = device.octets.count
    var again = machine.linkIsUp(packet: 244, parameters: nil, now: .zero)
    let first = try #require(again.first)
    again = machine.received(device.receive(first), now: .zero)
    #expect(machine.offset == had && machine.state == .sending && again.count == 1)
    guard case .upload(let part)? = again.first.flatMap(ManagementRequest.init) else {
      return #expect(Bool(false), "no part was sent")
    }
    #expect(part.offset == had && part.beginning == nil)
    run(&machine, &device) { _, _, _ in false }
    #expect(machine.state == .finished && device.octets == Self.file)
  }

  @Test("a device that restarts gets the file from its beginning")
  func restart() {
    var (machine, device) = (machine(), FakeDevice())
    var hasRestarted = false
    run(&machine, &device) { number, _, device in
      if number == 9, !hasRestarted { (device, hasRestarted) = (FakeDevice(), true) }
      return false
    }
    #expect(machine.state == .finished && device.octets == Self.file)
  }

  @Test("a device that goes back again and again, or restarts, makes no progress", arguments: [64, 0])
  func circles(back: Int) {
    var machine = machine()
    var waiting = machine.linkIsUp(packet: 244, parameters: nil, now: .zero)
    var answers = 0
    while let frame = waiting.first, answers < 1000 {
      guard case .upload(let part)? = ManagementRequest(frame) else { return }
      let end = part.offset + part.data.count
      let offset = answers % 3 == 2 ? back : end
      let answer = FakeDevice().answer(frame, [("off", .unsigned(UInt64(offset)))])
      answers += 1
      waiting = machine.received(answer, now: .zero)
    }
    #expect(machine.state == .failed(.noProgress), "\(answers) answers")
  }

  @Test("a device that restarts at each last part does not have the file")
  func lastRestarts() {
    var machine = machine()
    var waiting = machine.linkIsUp(packet: 244, parameters: nil, now: .zero)
    var restarts = 0
    while let frame = waiting.first {
      guard case .upload(let part)? = ManagementRequest(frame) else { return }
      let end = part.offset + part.data.count
      if end == Self.file.count { restarts += 1 }
      let answer = FakeDevice().answer(frame, [("off", .unsigned(UInt64(end % Self.file.count)))])
      waiting = machine.received(answer, now: .zero)
    }
    #expect(machine.state == .failed(.noProgress) && restarts == 7)
  }

  @Test("a device that was busy, then restarted, does not have the file")
  func busyLast() throws {
    var (machine, device) = (machine(), FakeDevice())
    var waiting = machine.linkIsUp(packet: 244, parameters: nil, now: .zero)
    func isLast(_ frame: ManagementFrame) -> Bool {
      guard case .upload(let part)? = ManagementRequest(frame) else { return false }
      return part.offset + part.data.count == Self.file.count
    }
    while let frame = waiting.first, !isLast(frame) { waiting = machine.received(device.receive(frame), now: .zero) }
    let last = try #require(waiting.first)
    #expect(machine.received(device.answer(last, [("rc", .unsigned(10))]), now: .zero).isEmpty)
    let deadline = try #require(machine.deadline)
    let again = try #require(machine.timePassed(now: deadline).first)
    #expect(isLast(again))
    #expect(machine.received(device.answer(again, [("off", .unsigned(0))]), now: .zero).count == 1)
    #expect(machine.state == .beginning)
  }

  @Test("a device that joins no packets gets parts as long as a packet")
  func shortParts() throws {
    var machine = machine()
    let large = ManagementParameters(bufferSize: 2048, bufferCount: 4)
    let first = try #require(machine.linkIsUp(packet: 100, parameters: large, now: .zero).first)
    #expect(first.encoded.count > 2000 && first.encoded.count <= 2048)
    let deadline = try #require(machine.deadline)
    #expect(machine.timePassed(now: deadline.advanced(by: .seconds(-1))).isEmpty)
    let second = try #require(machine.timePassed(now: deadline).first)
    #expect(second.encoded.count <= 128 && second.sequence != first.sequence)
  }

  @Test("a device that refuses longer frames than a packet gets shorter ones")
  func refusedParts() throws {
    var (machine, device) = (machine(), FakeDevice())
    device.packet = 244
    run(&machine, &device) { _, _, _ in false }
    #expect(machine.state == .finished && device.octets == Self.file)
    // One that refuses also those fails, at once.
    var other = self.machine()
    device = FakeDevice(packet: 50)
    run(&other, &device) { _, _, _ in false }
    #expect(other.state == .failed(.refused(.init(group: nil, code: 9))))
  }

  @Test("the time for an answer begins when the frames have left, and with each answer")
  func slowLink() throws {
    var (machine, device) = (machine(), FakeDevice())
    let first = try #require(machine.linkIsUp(packet: 100, parameters: Self.buffers, now: .zero).first)
    let begun = try #require(machine.deadline)
    machine.sent(now: .zero.advanced(by: .seconds(20)))
    #expect(machine.timePassed(now: begun).isEmpty && machine.deadline == begun.advanced(by: .seconds(20)))
    var waiting = machine.received(device.receive(first), now: begun)
    waiting += machine.received(device.receive(waiting.removeFirst()), now: begun)
    #expect(waiting.count == 2)
    _ = machine.received(device.receive(waiting.removeFirst()), now: begun.advanced(by: .seconds(4)))
    #expect(machine.deadline == begun.advanced(by: .seconds(9)))
  }

  @Test("a new link has all attempts again, and the short frames of the last one")
  func newLink() throws {
    var machine = machine()
    _ = machine.linkIsUp(packet: 100, parameters: Self.buffers, now: .zero)
    for _ in 1...6 { _ = machine.timePassed(now: try #require(machine.deadline)) }
    machine.linkIsLost()
    let first = try #require(machine.linkIsUp(packet: 100, parameters: Self.buffers, now: .zero).first)
    #expect(first.encoded.count <= 128)
    #expect(machine.timePassed(now: try #require(machine.deadline)).count == 1 && machine.state == .beginning)
  }

  @Test("the packets of the shortest MTU bring frames of large buffers")
  func shortestPackets() throws {
    var (machine, device) = (machine(), FakeDevice())
    let first = try #require(machine.linkIsUp(packet: 20, parameters: Self.buffers, now: .zero).first)
    #expect(first.encoded.count > 200)
    machine.linkIsLost()
    run(&machine, &device) { _, _, _ in false }
    #expect(machine.state == .finished && device.octets == Self.file)
  }

  @Test("failures end it")
  func failures() throws {
    func outcome(_ members: [(String, CBORValue)]) throws -> UploadMachine.State {
      var machine = machine()
      let first = try #require(machine.linkIsUp(packet: 244, parameters: nil, now: .zero).first)
      _ = machine.received(FakeDevice().answer(first, members), now: .zero)
      return machine.state
    }
    #expect(try outcome([("rc", .unsigned(3))]) == .failed(.refused(.init(group: nil, code: 3))))
    #expect(try outcome([("off", .unsigned(5001))]) == .failed(.invalidOffset(5001)))
    #expect(try outcome([("off", .negative(0))]) == .failed(.invalidOffset(nil)))
    #expect(try outcome([]) == .failed(.invalidOffset(nil)))
    #expect(try outcome([("off", .unsigned(5000)), ("match", .bool(false))]) == .failed(.hashDiffers))
    #expect(try outcome([("off", .unsigned(5000)), ("match", .bool(true))]) == .finished)
    #expect(try outcome([("rc", .unsigned(10))]) == .beginning)
    var silent = machine()
    var device = FakeDevice()
    run(&silent, &device) { _, answer, _ in !answer }
    #expect(silent.state == .failed(.noProgress) && device.octets.isEmpty)
  }
}
