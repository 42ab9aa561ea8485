import Adapter
@testable import Controllers
import Bluetooth
import Dispatch
import EventLoop
import Glibc
import HCI
import TestSupport
import Testing

/// The user channel of a kernel that a test plays.
@Suite struct UserChannelTests {
  /// Both sides, and the events of the channel.
  private final class Stage {
    let loop: EventLoop
    let kernel = UserChannelKernel()
    let scheduler: VirtualScheduler
    let worker: Worker
    let channel: UserChannel
    private(set) var opened = 0
    private(set) var packets: [[UInt8]] = []
    private(set) var ends: [String] = []
    private(set) var errors: [SystemError] = []

    private(set) var arrivals: [Instant?] = []

    /// - Parameter epoch: the time of day at which it begins.
    init(epoch: Double = 0) throws {
      scheduler = VirtualScheduler(epoch: epoch)
      loop = try EventLoop()
      worker = Worker(loop: loop)
      channel = UserChannel(ControllerIndex(rawValue: 1), of: kernel, by: worker, on: loop, scheduler)
    }

    func start() throws {
      channel.onEvent = { [unowned self] event in
        switch event {
        case .starting: break
        case .opened: opened += 1
        case .packet(let packet):
          packets.append(packet)
          arrivals.append(channel.arrival)
        case .skipped(let count): Issue.record("\(count) octets of packets were dropped")
        case .ended(let reason): ends.append(reason)
        case .refused(let error): errors.append(error)
        }
      }
      try channel.start()
      try settle()
    }

    /// Lets all happen that can without time passing, and without the worker while the kernel is slow.
    func settle() throws {
      while try loop.poll() {}
      guard !kernel.isSlow else { return }
      // A result may lead to further work.
      for _ in 0..<2 {
        var isDone = false
        worker.submit {
        } _: { _ in
          isDone = true
        }
        try until { isDone }
      }
    }

    func until(_ condition: () -> Bool) throws {
      try #require(
        try Patience.wait {
          while try loop.poll() {}
          return condition()
        })
    }

    func wait(_ duration: Duration) throws {
      scheduler.advance(by: duration)
      try settle()
    }

    /// The next packet at the kernel's end of a socket; nil without one.
    func read(_ end: CInt) -> [UInt8]? {
      var buffer = [UInt8](repeating: 0, count: 4096)
      let count = Glibc.read(end, &buffer, buffer.count)
      return count > 0 ? Array(buffer[..<count]) : nil
    }

    func write(_ packet: [UInt8], to end: CInt) throws {
      try #require(Glibc.write(end, packet, packet.count) == packet.count)
      try settle()
    }

    func forgetPackets() { packets = [] }

    /// The kernel answers Set Powered with Command Status.
    func refuse(_ status: UInt8) throws { try write([2, 0, 1, 0, 3, 0, 5, 0, status], to: kernel.managementEnd) }

    /// The kernel has switched the controller off.
    func complete() throws { try write([1, 0, 1, 0, 7, 0, 5, 0, 0, 0, 0, 0, 0], to: kernel.managementEnd) }
  }

  @Test func theControllerIsSwitchedOffFirst() throws {
    let stage = try Stage()
    try stage.start()
    #expect(stage.read(stage.kernel.managementEnd) == [5, 0, 1, 0, 1, 0, 0])
    // Another controller's answer, and news of this one.
    try stage.write([1, 0, 0, 0, 7, 0, 5, 0, 0, 0, 0, 0, 0], to: stage.kernel.managementEnd)
    try stage.write([6, 0, 1, 0, 4, 0, 0, 0, 0, 0], to: stage.kernel.managementEnd)
    #expect(stage.kernel.attempts == 0)
    try stage.complete()
    #expect((stage.kernel.attempts, stage.opened) == (1, 1))

    stage.channel.send([0x01, 0x03, 0x0C, 0x00])
    stage.channel.send([0x01, 0x01, 0x10, 0x00])
    #expect(stage.read(stage.kernel.controllerEnd) == [0x01, 0x03, 0x0C, 0x00])
    #expect(stage.read(stage.kernel.controllerEnd) == [0x01, 0x01, 0x10, 0x00])
    try stage.write([0x04, 0x0E, 0x04, 0x01, 0x03, 0x0C, 0x00], to: stage.kernel.controllerEnd)
    #expect(stage.packets == [[0x04, 0x0E, 0x04, 0x01, 0x03, 0x0C, 0x00]])
    // The controller is given back.
    stage.channel.close()
    try stage.settle()
    var octet: UInt8 = 0
    #expect(recv(stage.kernel.controllerEnd, &octet, 1, 0) == 0)
  }

  /// The kernel's time counts. Here the packet arrived long before it is read; for a packet from a future time of day
  /// only its arrival is known.
  @Test(arguments: [true, false]) func packetsTellWhenTheyArrived(_ isOld: Bool) throws {
    let stage = try Stage(epoch: isOld ? 1e11 : 0)
    try stage.start()
    try stage.complete()
    stage.scheduler.advance(by: .seconds(7200))
    try stage.write([0x04, 0x0E, 0x04, 0x01, 0x03, 0x0C, 0x00], to: stage.kernel.controllerEnd)
    let now = stage.scheduler.now
    #expect(stage.arrivals == [isOld ? now.advanced(by: .seconds(-3600)) : now])
  }

  /// Invalid Index: it is absent or another program's; Permission Denied; Rfkilled.
  @Test(arguments: [(0x11, ENODEV), (0x14, EPERM), (0x12, ERFKILL)] as [(UInt8, Int32)])
  func anErrorOfTakingItIsTold(_ status: UInt8, _ error: Int32) throws {
    let stage = try Stage()
    stage.kernel.refusals = [error]
    try stage.start()
    try stage.refuse(status)
    #expect(stage.errors == [SystemError(result: -error)])
    try stage.wait(.seconds(60))
    #expect((stage.kernel.attempts, stage.errors.count, stage.opened) == (1, 1, 0))
  }

  @Test func aControllerThatWasJustLeftIsWaitedFor() throws {
    let stage = try Stage()
    stage.kernel.refusals = [EBUSY, EBUSY]
    try stage.start()
    try stage.refuse(0x11)
    #expect((stage.kernel.attempts, stage.opened) == (1, 0))
    try stage.wait(.milliseconds(100))
    #expect((stage.kernel.attempts, stage.opened) == (2, 0))
    try stage.wait(.milliseconds(100))
    #expect((stage.kernel.attempts, stage.opened) == (3, 1))
    #expect(stage.errors.isEmpty)
  }

  @Test func oneThatAnotherProgramHasIsGivenUp() throws {
    let stage = try Stage()
    stage.kernel.refusals = Array(repeating: EBUSY, count: 100)
    try stage.start()
    try stage.refuse(0x11)
    for _ in 0..<30 { try stage.wait(.milliseconds(100)) }
    #expect(stage.errors == [SystemError(result: -EBUSY)])
    #expect(stage.kernel.attempts == 20)
  }

  @Test func aKernelThatDoesNotAnswerIsNotWaitedForLong() throws {
    let stage = try Stage()
    try stage.start()
    try stage.wait(.milliseconds(9_999))
    #expect(stage.kernel.attempts == 0)
    try stage.wait(.milliseconds(1))
    #expect((stage.kernel.attempts, stage.opened) == (1, 1))
  }

  @Test func reportsOfTransmittedPacketsWaitUntilTheyAreAwaited() throws {
    let stage = try Stage()
    stage.kernel.withholdsCompletions = true
    try stage.start()
    try stage.complete()
    let reports: [[UInt8]] = [1, 2, 3].map { [0x04, 0x13, 0x05, 0x01, 0x40, 0x00, $0, 0x00] }
    try stage.write(reports[0], to: stage.kernel.completionsEnd)
    try stage.write(reports[1], to: stage.kernel.completionsEnd)
    #expect(stage.packets.isEmpty)
    #expect(stage.channel.takenCompletions == [reports[0], reports[1]])
    #expect(stage.channel.takenCompletions.isEmpty)

    for _ in 0..<2 {
      #expect(stage.channel.awaitCompletions(true) == true)
      try stage.write(reports[0], to: stage.kernel.completionsEnd)
      #expect(stage.channel.awaitCompletions(false) == false)
      try stage.write(reports[1], to: stage.kernel.completionsEnd)
      #expect(stage.packets == [reports[0]])
      #expect(stage.channel.awaitCompletions(true) == true)
      try stage.settle()
      #expect(stage.packets == [reports[0], reports[1]])
      try stage.write(reports[2], to: stage.kernel.completionsEnd)
      #expect(stage.packets == reports)
      stage.forgetPackets()
    }
  }

  /// A controller that reports without end does not keep the loop from its other work.
  @Test func fewReportsAreTakenAtATime() throws {
    let stage = try Stage()
    stage.kernel.withholdsCompletions = true
    try stage.start()
    try stage.complete()
    let report: [UInt8] = [0x04, 0x13, 0x05, 0x01, 0x40, 0x00, 0x01, 0x00]
    for _ in 0..<206 { try stage.write(report, to: stage.kernel.completionsEnd) }
    var taken = 0
    stage.channel.takeCompletions(1) { _ in taken += 1 }
    #expect(taken == 1)
    stage.channel.takeCompletions(5) { _ in taken += 1 }
    #expect(6...9 ~= taken)
    let left = 206 - taken
    #expect(stage.channel.takenCompletions.count == 128)
    #expect(stage.channel.awaitCompletions(true) == true)
    try stage.settle()
    #expect(stage.packets.count == left - 128)
  }

  /// Then it is unknown how much room the controller has.
  @Test(arguments: [true, false]) func aChannelWhoseReportsAreLostEnds(_ isAwaited: Bool) throws {
    let stage = try Stage()
    (stage.kernel.withholdsCompletions, stage.kernel.losesCompletions) = (true, true)
    try stage.start()
    try stage.complete()
    let report: [UInt8] = [0x04, 0x13, 0x05, 0x01, 0x40, 0x00, 0x01, 0x00]
    for _ in 0..<100 { try stage.write(report, to: stage.kernel.completionsEnd) }
    #expect(stage.ends.isEmpty)
    #expect(stage.channel.awaitCompletions(isAwaited) == isAwaited)
    if !isAwaited { #expect(stage.channel.takenCompletions.count < 100) }
    try stage.until { !stage.ends.isEmpty }
    #expect(stage.ends.count == 1)
  }

  @Test func aKernelThatWithholdsNothingTellsAllAtOnce() throws {
    let stage = try Stage()
    try stage.start()
    try stage.complete()
    #expect(stage.channel.awaitCompletions(false) == true && stage.channel.takenCompletions.isEmpty)
  }

  @Test func anUnpluggedControllerIsToldOnce() throws {
    let stage = try Stage()
    try stage.start()
    try stage.complete()
    try stage.write([0x04, 0xFF, 0x01, 0x07], to: stage.kernel.controllerEnd)
    stage.kernel.unplug()
    try stage.settle()
    #expect(stage.packets.count == 1)
    #expect(stage.ends.count == 1)
    stage.channel.send([0x01, 0x03, 0x0C, 0x00])
    try stage.settle()
    #expect(stage.ends.count == 1)
  }

  @Test func aClosedOneTakesNothing() throws {
    let stage = try Stage()
    try stage.start()
    stage.channel.close()
    try stage.wait(.seconds(60))
    #expect((stage.kernel.attempts, stage.opened) == (0, 0))
  }

  /// A controller that does not answer occupies the kernel for seconds.
  @Test func theOpeningMakesNobodyWait() throws {
    let stage = try Stage()
    stage.kernel.isSlow = true
    try stage.start()
    try stage.complete()
    try stage.until { stage.kernel.calls == [.opens] }
    var isServed = false
    stage.loop.execute { isServed = true }
    try stage.wait(.seconds(60))
    #expect(isServed && stage.opened == 0 && stage.errors.isEmpty && stage.kernel.calls == [.opens])
    stage.kernel.proceed()
    try stage.until { stage.opened == 1 }
    stage.kernel.isSlow = false
  }

  @Test func theClosingMakesNobodyWait() throws {
    let stage = try Stage()
    try stage.start()
    try stage.complete()
    stage.kernel.isSlow = true
    stage.channel.close()
    try stage.until { stage.kernel.calls == [.opens, .opened, .closes] }
    stage.kernel.proceed()
    try stage.until { stage.kernel.calls.last == .closed }
  }

  @Test func anOpeningThatIsCancelledGivesTheControllerBack() throws {
    let stage = try Stage()
    stage.kernel.isSlow = true
    try stage.start()
    try stage.complete()
    try stage.until { stage.kernel.calls == [.opens] }
    stage.channel.close()
    stage.kernel.proceed()
    stage.kernel.proceed()
    try stage.until { stage.kernel.calls == [.opens, .opened, .closes, .closed] }
    stage.kernel.isSlow = false
    try stage.settle()
    #expect((stage.opened, stage.errors.count) == (0, 0))
  }

  /// The result is on its way to the loop.
  @Test func anOpeningThatIsCancelledAtItsEndGivesTheControllerBack() throws {
    let stage = try Stage()
    try stage.start()
    let answer: [UInt8] = [1, 0, 1, 0, 7, 0, 5, 0, 0, 0, 0, 0, 0]
    try #require(Glibc.write(stage.kernel.managementEnd, answer, answer.count) == answer.count)
    // There is only the answer.
    #expect(try stage.loop.poll())
    try #require(Patience.wait { stage.kernel.calls.last == .opened })
    stage.channel.close()
    try stage.until { stage.kernel.calls == [.opens, .opened, .closes, .closed] }
    #expect(stage.opened == 0)
  }

  @Test func anOpeningThatIsCancelledBeforeItBeganOpensNothing() throws {
    let stage = try Stage()
    let gate = DispatchSemaphore(value: 0)
    stage.kernel.isSlow = true
    stage.worker.submit {
      gate.wait()
    } _: { _ in
    }
    try stage.start()
    try stage.complete()
    stage.channel.close()
    stage.kernel.isSlow = false
    gate.signal()
    try stage.settle()
    #expect(stage.kernel.calls.isEmpty && stage.opened == 0)
  }

  @Test func aKernelWithoutBluetoothIsAnError() throws {
    let stage = try Stage()
    stage.kernel.isWithoutBluetooth = true
    #expect(throws: SystemError(result: -EAFNOSUPPORT)) { try stage.start() }
  }

  @Test(
    arguments: [
      (EPERM, .permission, "CAP_NET_ADMIN"), (EBUSY, .inUse, "another program"), (EUSERS, .inUse, "another program"),
      (ERFKILL, .blocked, "rfkill"), (EAFNOSUPPORT, .unsupported, "no Bluetooth"), (EIO, .hardware, "hci1"),
    ] as [(Int32, AdapterProblem.Kind, String)])
  func problemsNameTheRemedy(_ error: Int32, _ kind: AdapterProblem.Kind, _ words: String) throws {
    guard case .failed(let problem) = AdapterState(SystemError(result: -error), at: .user(1)) else {
      Issue.record("no problem")
      return
    }
    #expect(problem.kind == kind)
    #expect(problem.message.contains(words) && !problem.remedy.isEmpty)
  }
}

extension UserChannel {
  /// The reports that waited.
  fileprivate var takenCompletions: [[UInt8]] {
    var reports: [[UInt8]] = []
    takeCompletions(.max) { reports.append(Array($0)) }
    return reports
  }
}
