import Adapter
import AdapterParts
import EventLoop
import Glibc
import HCI
import TestSupport
import Testing

@testable import HostAdapter

/// The user channel of a kernel that a test plays.
@Suite struct UserChannelTests {
  /// The kernel: its ends of the sockets.
  private final class Kernel: UserChannelSockets {
    /// How often the controller is refused, and why.
    var refusals: [Int32] = []
    var isWithoutBluetooth = false
    private(set) var attempts = 0
    private(set) var managementEnd: CInt = -1
    private(set) var controllerEnd: CInt = -1

    deinit { for end in [managementEnd, controllerEnd] where end >= 0 { close(end) } }

    func management() throws(SystemError) -> Descriptor {
      if isWithoutBluetooth { throw SystemError(result: -EAFNOSUPPORT) }
      let (own, theirs) = try Self.pair()
      managementEnd = own
      return theirs
    }

    func channel(of controller: ControllerIndex) throws(SystemError) -> Descriptor {
      attempts += 1
      if !refusals.isEmpty { throw SystemError(result: -refusals.removeFirst()) }
      let (own, theirs) = try Self.pair()
      controllerEnd = own
      return theirs
    }

    func unplug() {
      close(controllerEnd)
      controllerEnd = -1
    }

    private static func pair() throws(SystemError) -> (CInt, Descriptor) {
      var ends: [CInt] = [-1, -1]
      let type = CInt(SOCK_SEQPACKET.rawValue) | CInt(SOCK_NONBLOCK.rawValue) | CInt(SOCK_CLOEXEC.rawValue)
      guard socketpair(AF_UNIX, type, 0, &ends) == 0 else { throw SystemError(result: -errno) }
      return (ends[0], Descriptor(ends[1]))
    }
  }

  /// Both sides, and what the channel told.
  private final class Stage {
    let loop: EventLoop
    let kernel = Kernel()
    let scheduler = VirtualScheduler()
    let channel: UserChannel
    private(set) var opened = 0
    private(set) var packets: [[UInt8]] = []
    private(set) var ends: [String] = []
    private(set) var errors: [SystemError] = []

    init() throws {
      loop = try EventLoop()
      channel = UserChannel(
        ControllerIndex(rawValue: 1), of: kernel,
        in: AdapterContext(name: "user:hci1", loop: loop, scheduler: scheduler, logger: LogLines().logger))
    }

    func start() throws {
      channel.onEvent = { [unowned self] event in
        switch event {
        case .opened: opened += 1
        case .packet(let packet): packets.append(packet)
        case .ended(let reason): ends.append(reason)
        case .refused(let error): errors.append(error)
        }
      }
      try channel.start()
      try settle()
    }

    func settle() throws { while try loop.poll() {} }

    func wait(_ duration: Duration) throws {
      scheduler.advance(by: duration)
      try settle()
    }

    /// The next packet at the kernel's end of a socket; nil if there is none.
    func read(_ end: CInt) -> [UInt8]? {
      var buffer = [UInt8](repeating: 0, count: 4096)
      let count = Glibc.read(end, &buffer, buffer.count)
      return count > 0 ? Array(buffer[..<count]) : nil
    }

    func write(_ packet: [UInt8], to end: CInt) throws {
      try #require(Glibc.write(end, packet, packet.count) == packet.count)
      try settle()
    }

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
    var octet: UInt8 = 0
    #expect(recv(stage.kernel.controllerEnd, &octet, 1, 0) == 0)
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
