import Bluetooth
import NordicDFU
import TestSupport
import Testing

/// Transfers to a boot loader of a few lines, packet by packet.
@Suite struct TransferMachineTests {
  /// A boot loader that checks nothing but lengths.
  private struct FakeBootLoader {
    var packet: [UInt8] = []
    var length = 0
    var executed: [UInt8] = []
    var part: [UInt8] = []
    var object = DFUObject.command
    var receipts = 0
    var packets = 0
    /// The length of an object of the firmware.
    var maximum = 1000
    /// The maximum length of an init packet.
    var maximumPacket = 512
    /// The number of packets counted on over objects.
    var countsOn = false

    mutating func receive(_ action: TransferMachine.Action) -> [DFUResponse] {
      switch action {
      case .packet(let octets):
        if object == .command { packet += octets } else { part += octets }
        packets += 1
        guard receipts > 0, packets % receipts == 0 else { return [] }
        return [DFUResponse(to: 3, receipt: receipt)]
      case .request(let request): return [answer(request)]
      }
    }

    private mutating func answer(_ request: DFURequest) -> DFUResponse {
      switch request {
      case .setReceipts(let count): (receipts, packets) = (count, 0)
      case .select(let object):
        self.object = object
        return DFUResponse(to: 6, receipt: receipt, maximum: object == .command ? maximumPacket : maximum)
      case .create(.command, _): (object, packet, executed, part) = (.command, [], [], [])
      case .create(.data, let length):
        (object, part, self.length) = (.data, [], length)
        if !countsOn { packets = 0 }
      case .checksum: return DFUResponse(to: 3, receipt: receipt)
      case .execute:
        guard object == .data else { break }
        guard part.count == length else { return DFUResponse(to: 4, refusal: .notPermitted) }
        (executed, part, length) = (executed + part, [], 0)
      }
      return DFUResponse(to: request.code)
    }

    private var receipt: DFUResponse.Receipt {
      var checksum = CRC32()
      checksum.add(object == .command ? packet : executed + part)
      return .init(offset: object == .command ? packet.count : executed.count + part.count, checksum: checksum.value)
    }
  }

  private static let firmware = TestPackage.firmware(4500)
  private static let image = DFUPackage.Image(
    name: "application", packet: TestPackage.packet(version: 1, firmware), firmware: firmware)

  /// Runs until there is nothing more to do.
  /// - Parameters:
  ///   - change: Replaces the answers to an action; the number of actions is counted from 1.
  /// - Returns: The actions.
  @discardableResult private func run(
    _ machine: inout TransferMachine, _ loader: inout FakeBootLoader, packet: Int = 103,
    change: (Int, TransferMachine.Action, inout FakeBootLoader, inout TransferMachine) -> [DFUResponse]? = {
      _, _, _, _ in nil
    }
  ) -> [TransferMachine.Action] {
    var now = Instant.zero
    var waiting = machine.linkIsUp(packet: packet, now: now)
    var all: [TransferMachine.Action] = []
    while !machine.hasEnded, machine.state != .waiting {
      guard !waiting.isEmpty else {
        guard let deadline = machine.deadline else { break }
        now = max(now, deadline)
        waiting = machine.timePassed(now: now)
        continue
      }
      let action = waiting.removeFirst()
      all.append(action)
      let responses = change(all.count, action, &loader, &machine) ?? loader.receive(action)
      now = now.advanced(by: .milliseconds(10))
      for response in responses { waiting += machine.received(response.encoded, now: now) }
    }
    return all
  }

  @Test("an image is transferred in objects, with receipts", arguments: [true, false])
  func transfer(countsOn: Bool) {
    var (machine, loader) = (TransferMachine(Self.image), FakeBootLoader(countsOn: countsOn))
    let actions = run(&machine, &loader, packet: 43)
    #expect(machine.state == .finished && machine.offset == 4500)
    #expect(loader.packet == Self.image.packet && loader.executed == Self.firmware)
    #expect(actions.count { $0 == .request(.execute) } == 6)
    let longest = actions.map { if case .packet(let octets) = $0 { octets.count } else { 0 } }.max()
    #expect(longest == 40, "whole words")
  }

  @Test("a lost link is continued behind what has arrived, wherever it was lost")
  func lostLinks() {
    var (whole, other) = (TransferMachine(Self.image), FakeBootLoader())
    let count = run(&whole, &other).count
    for place in 1...count {
      var (machine, loader) = (TransferMachine(Self.image), FakeBootLoader())
      var before = 0
      run(&machine, &loader) { number, action, loader, machine in
        guard number == place else { return nil }
        // The action arrives, its answer does not.
        _ = loader.receive(action)
        before = loader.executed.count + loader.part.count
        machine.linkIsLost()
        return []
      }
      #expect(machine.state == .waiting && machine.mayBeFinished == (place == count), "\(place)")
      let actions = run(&machine, &loader)
      #expect(machine.state == .finished && loader.executed == Self.firmware, "\(place)")
      let sent = actions.reduce(0) { if case .packet(let octets) = $1 { $0 + octets.count } else { $0 } }
      let rest = Self.firmware.count - before + Self.image.packet.count
      #expect(sent <= rest, "\(place): \(sent) octets again, of \(rest)")
    }
  }

  @Test("a wrong checksum, and an object that is not taken, are repeated")
  func repeated() {
    for fault in 0..<3 {
      var (machine, loader) = (TransferMachine(Self.image), FakeBootLoader())
      var isDone = false
      run(&machine, &loader) { _, action, loader, _ in
        guard !isDone, loader.object == .data, loader.executed.count == 2000 else { return nil }
        switch action {
        case .packet(let octets) where fault == 0:
          isDone = true
          return loader.receive(.packet(octets.dropLast() + [octets.last.map { $0 ^ 1 } ?? 0]))
        case .packet where fault == 1:
          isDone = true
          return []
        case .request(.execute) where fault == 2:
          isDone = true
          return [DFUResponse(to: 4, refusal: DFURefusal(code: 10))]
        default: return nil
        }
      }
      #expect(isDone && machine.state == .finished && loader.executed == Self.firmware, "fault \(fault)")
    }
  }

  @Test("another firmware that was begun is given up, with the init packet")
  func otherFirmware() {
    var (machine, loader) = (TransferMachine(Self.image), FakeBootLoader())
    loader.packet = Self.image.packet
    loader.executed = [UInt8](repeating: 9, count: 1000)
    run(&machine, &loader)
    #expect(machine.state == .finished && loader.executed == Self.firmware)
  }

  @Test("an init packet that is sent again may have receipts", arguments: [true, false])
  func receiptsOfPacket(countsOn: Bool) {
    let image = DFUPackage.Image(
      name: "application", packet: [UInt8](repeating: 5, count: 500), firmware: Self.firmware)
    var (machine, loader) = (TransferMachine(image), FakeBootLoader(countsOn: countsOn))
    (loader.packet, loader.executed) = (image.packet, [UInt8](repeating: 9, count: 1000))
    let actions = run(&machine, &loader, packet: 20)
    #expect(machine.state == .finished && loader.packet == image.packet && loader.executed == Self.firmware)
    #expect(actions.count { $0 == .request(.create(.command, length: 500)) } == 1)
  }

  @Test("the offset is known once the boot loader has answered on a link")
  func knownOffset() {
    var (machine, loader) = (TransferMachine(Self.image), FakeBootLoader())
    var places: [Int] = []
    for isLost in [true, false] {
      #expect(!machine.knowsOffset)
      run(&machine, &loader) { number, action, loader, machine in
        if machine.knowsOffset { places.append(machine.offset) }
        if isLost, number == 30 { machine.linkIsLost() }
        return nil
      }
    }
    #expect(machine.state == .finished && machine.knowsOffset && places == places.sorted())
  }

  @Test("receipts that do not come are asked for")
  func noReceipts() {
    var (machine, loader) = (TransferMachine(Self.image), FakeBootLoader())
    run(&machine, &loader, packet: 20) { _, action, _, _ in
      guard case .request(.setReceipts) = action else { return nil }
      return [DFUResponse(to: 2, refusal: DFURefusal(code: 2))]
    }
    #expect(machine.state == .finished && loader.executed == Self.firmware)
  }

  @Test("refusals and silence end it")
  func failures() {
    func state(_ loader: FakeBootLoader = .init(), _ answer: (TransferMachine.Action, FakeBootLoader) -> [DFUResponse]?)
      -> TransferMachine.State
    {
      var (machine, loader) = (TransferMachine(Self.image), loader)
      run(&machine, &loader) { _, action, loader, _ in answer(action, loader) }
      #expect(machine.hasEnded && machine.deadline == nil)
      return machine.state
    }
    let version = DFURefusal(code: 11, extended: 5)
    #expect(
      state { action, _ in action == .request(.execute) ? [DFUResponse(to: 4, refusal: version)] : nil }
        == .failed(.packetRefused(version)))
    let object = DFURefusal(code: 5)
    let last = state { action, loader in
      action == .request(.execute) && loader.object == .data ? [DFUResponse(to: 4, refusal: object)] : nil
    }
    #expect(last == .failed(.refused(object)))
    let silent = state { action, loader in loader.object == .data && action == .request(.checksum) ? [] : nil }
    #expect(silent == .failed(.noAnswer))
    let damaged = state { action, loader in
      guard case .packet = action, loader.object == .data else { return nil }
      return [DFUResponse(to: 3, receipt: .init(offset: 1, checksum: 0))]
    }
    #expect(damaged == .failed(.damaged))
    let short = state(FakeBootLoader(maximumPacket: 20)) { _, _ in nil }
    #expect(short == .failed(.packetTooLong(Self.image.packet.count, maximum: 20)))
    #expect(state(FakeBootLoader(maximum: 0)) { _, _ in nil } == .failed(.invalidAnswer))
    let words = "\(TransferMachine.Failure.packetRefused(version))"
    #expect(words.hasPrefix("the boot loader refused the init packet: the firmware's version"))
  }

  @Test("an object that is refused after each init packet ends it")
  func refusedAgain() {
    var (machine, loader) = (TransferMachine(Self.image), FakeBootLoader())
    let refusal = DFURefusal(code: 10)
    var first = CRC32()
    first.add(Self.firmware[..<1000])
    let receipt = DFUResponse.Receipt(offset: 1000, checksum: first.value)
    let actions = run(&machine, &loader) { number, action, loader, machine in
      if number == 200 { machine.linkIsLost() }
      switch action {
      case .request(.select(.data)): return [DFUResponse(to: 6, receipt: receipt, maximum: 1000)]
      case .request(.execute) where machine.offset > 0: return [DFUResponse(to: 4, refusal: refusal)]
      default: return nil
      }
    }
    #expect(machine.state == .failed(.refused(refusal)))
    #expect(actions.count { $0 == .request(.select(.data)) } == 3)
  }

  @Test("an object that another run began and that is refused is given up, with the init packet")
  func refusedObject() {
    var (machine, loader) = (TransferMachine(Self.image), FakeBootLoader())
    (loader.packet, loader.executed) = (Self.image.packet, [UInt8](repeating: 9, count: 1000))
    var refusals = 0
    run(&machine, &loader) { _, action, loader, _ in
      guard case .request(.create(.data, _)) = action, loader.executed.first == 9 else { return nil }
      refusals += 1
      return [DFUResponse(to: 1, refusal: DFURefusal(code: 3))]
    }
    #expect(refusals == 1 && machine.state == .finished && loader.executed == Self.firmware)
  }

  @Test("the reason why the last object was not executed is the one reported")
  func lastRefusal() {
    var (machine, loader) = (TransferMachine(Self.image), FakeBootLoader())
    let reason = DFURefusal(code: 5)
    var isOver = false
    run(&machine, &loader) { _, action, loader, _ in
      switch action {
      case .request(.execute) where loader.executed.count == 4000:
        isOver = true
        return [DFUResponse(to: 4, refusal: reason)]
      case .request(.create) where isOver: return [DFUResponse(to: 1, refusal: DFURefusal(code: 3))]
      default: return nil
      }
    }
    #expect(isOver && machine.state == .failed(.refused(reason)))
  }

  @Test("a receipt that is repeated leaves the deadline")
  func repeatedReceipt() throws {
    var (machine, loader) = (TransferMachine(Self.image), FakeBootLoader())
    var waiting = machine.linkIsUp(packet: 20, now: .zero)
    var receipt: [UInt8] = []
    while receipt.isEmpty, !waiting.isEmpty {
      for response in loader.receive(waiting.removeFirst()) {
        if machine.state == .sending { receipt = response.encoded }
        waiting += machine.received(response.encoded, now: .zero)
      }
    }
    let before = try #require(machine.deadline)
    #expect(machine.received(receipt, now: .zero.advanced(by: .seconds(1))).isEmpty && machine.state == .sending)
    #expect(machine.deadline == before)
  }

  @Test("answers that are not awaited, and calls behind the end, change nothing")
  func strays() {
    var (machine, loader) = (TransferMachine(Self.image), FakeBootLoader())
    #expect(machine.received([0x60, 4, 1], now: .zero).isEmpty && machine.state == .waiting)
    _ = machine.linkIsUp(packet: 20, now: .zero)
    let before = machine.deadline
    let later = Instant.zero.advanced(by: .seconds(1))
    #expect(machine.received([0x60, 4, 1], now: later).isEmpty && machine.received([1], now: later).isEmpty)
    #expect(machine.deadline == before)
    #expect(machine.state == .asking(.setReceipts(0)))
    run(&machine, &loader)
    #expect(machine.state == .finished && machine.linkIsUp(packet: 20, now: .zero).isEmpty)
    machine.linkIsLost()
    #expect(machine.state == .finished && machine.timePassed(now: .zero).isEmpty)
  }
}
