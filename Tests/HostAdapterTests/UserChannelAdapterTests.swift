import Adapter
import EventLoop
import Glibc
import TestSupport
import Testing

@testable import HostAdapter

/// An adapter whose controller the kernel hands over slowly.
@Suite final class UserChannelAdapterTests {
  private let kernel = UserChannelKernel()
  private let scheduler = VirtualScheduler()
  private let loop: EventLoop
  private let adapter: HostAdapter

  init() throws {
    loop = try EventLoop()
    adapter = HostAdapter(
      .user(1), spare: HostStage.spare, of: kernel, loop: loop, scheduler: scheduler, logger: LogLines().logger)
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
  /// - Parameter count: how often it has done so then.
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

  /// One that hangs, whose closing takes its time.
  @Test func switchingItOffDoesNotWaitForTheController() throws {
    kernel.proceed()
    try until { adapter.state == .starting }
    var isDone = false
    adapter.setPower(false) { _ in isDone = true }
    try until { isDone && kernel.calls == [.opens, .opened, .closes] }
    #expect(adapter.state == .off)
    kernel.proceed()
    try until { kernel.calls.last == .closed }
  }
}
