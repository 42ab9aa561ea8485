import Adapter
import EventLoop
import Glibc
import TestSupport
import Testing

@testable import Controllers

/// An adapter with a controller that the kernel hands over slowly.
@Suite final class UserChannelAdapterTests {
  private let kernel = UserChannelKernel()
  private let scheduler: VirtualScheduler
  private let loop: EventLoop
  private let adapter: HostAdapter

  init() throws {
    loop = try EventLoop()
    scheduler = VirtualScheduler(later: loop.execute)
    adapter = HostAdapter(
      .user(1), by: SystemTransports(.user(1), of: kernel, on: loop, by: scheduler), spare: HostStage.spare,
      scheduler: scheduler, logger: LogLines().logger)
    kernel.isSlow = true
    adapter.start()
    try opens(1)
  }

  private func until(_ condition: () -> Bool) throws {
    try #require(
      try Patience.wait {
        while try loop.poll() {}
        return condition()
      })
  }

  /// The kernel has switched the controller off, and opens it.
  /// - Parameter count: the number of times so far.
  private func opens(_ count: Int) throws {
    while try loop.poll() {}
    scheduler.advance(by: .seconds(10))
    try until { kernel.attempts == count }
  }

  @Test func switchingItOffCancelsTheOpening() throws {
    var isDone = false
    adapter.setPower(false) { _ in isDone = true }
    try until { isDone }
    #expect(adapter.state == .off)
    kernel.proceed()
    kernel.proceed()
    try until { kernel.calls == [.opens, .opened, .closes, .closed] }
    #expect(adapter.state == .off)
  }

  @Test func switchingItOnAgainOpensItOnceMore() throws {
    adapter.setPower(false) { _ in }
    adapter.setPower(true) { _ in }
    while try loop.poll() {}
    scheduler.advance(by: .seconds(10))
    while try loop.poll() {}
    #expect(kernel.calls == [.opens])
    #expect(adapter.state == .starting)
    for _ in 0..<3 { kernel.proceed() }
    try until { kernel.calls == [.opens, .opened, .closes, .closed, .opens, .opened] }
    #expect(adapter.state == .starting)
    kernel.isSlow = false
  }

  @Test func stoppingItCancelsTheOpening() throws {
    var stops = 0
    adapter.stop { stops += 1 }
    try until { stops == 1 }
    kernel.proceed()
    kernel.proceed()
    try until { kernel.calls == [.opens, .opened, .closes, .closed] }
    scheduler.advance(by: .seconds(60))
    while try loop.poll() {}
    #expect(stops == 1 && kernel.attempts == 1 && adapter.state == .absent)
  }

  /// A hanging controller, which is closed slowly.
  @Test func switchingItOffDoesNotWaitForTheController() throws {
    kernel.proceed()
    try until { adapter.state == .starting }
    var isDone = false
    adapter.setPower(false) { _ in isDone = true }
    try until { isDone }
    #expect(adapter.state == .off)
    // Reset is not answered.
    scheduler.advance(by: .seconds(1))
    try until { kernel.calls == [.opens, .opened, .closes] }
    kernel.proceed()
    try until { kernel.calls.last == .closed }
  }

  // MARK: - Data

  /// The controller's answers to commands; it has flow control to the host.
  private static let returned: [UInt16: [UInt8]] = [
    0x1001: [13, 0, 0, 13, 0xF1, 0x05, 0, 0], 0x1002: (0..<64).map { $0 == 10 ? 0xE0 : 0 },
    0x1009: [1, 2, 3, 4, 5, 6], 0x2002: [27, 0, 3],
  ]

  /// Answers the received commands, with success.
  /// - Returns: their octets.
  private func answer() -> [[UInt8]] {
    var commands: [[UInt8]] = []
    var buffer = [UInt8](repeating: 0, count: 300)
    while true {
      let count = read(kernel.controllerEnd, &buffer, buffer.count)
      guard count >= 4 else { return commands }
      let command = Array(buffer[..<count])
      commands.append(command)
      let opcode = UInt16(command[1]) | UInt16(command[2]) << 8
      let returned = [0] + (Self.returned[opcode] ?? [UInt8](repeating: 0, count: 240))
      let event = [4, 0x0E, UInt8(3 + returned.count), 1] + command[1...2] + returned
      #expect(write(kernel.controllerEnd, event, event.count) == event.count)
    }
  }

  /// Their header promises more octets than there are.
  @Test func theRoomOfDataThatCannotBeDecodedIsFreeAgain() throws {
    kernel.proceed()
    kernel.isSlow = false
    try until {
      _ = answer()
      return adapter.state == .on
    }
    let data: [UInt8] = [2, 0x40, 0x20, 9, 0, 1, 2]
    try #require(write(kernel.controllerEnd, data, data.count) == data.count)
    var commands: [[UInt8]] = []
    // Host Number Of Completed Packets: one of the handle 0x0040.
    try until {
      commands += answer()
      return commands.contains([1, 0x35, 0x0C, 5, 1, 0x40, 0, 1, 0])
    }
  }
}
