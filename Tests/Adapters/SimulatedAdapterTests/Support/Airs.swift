import Adapter
import Bluetooth
import Logging
import Testing

@testable import Scenarios
@testable import SimulatedAdapter
@testable import VirtualDevices

/// The adapters of a test: simulated ones, or virtual ones around the same devices.
enum Airs {
  /// True if the adapters of the running test are virtual ones.
  @TaskLocal static var isVirtual = false

  /// The number of the first advertising set in packets.
  static var firstSID: UInt8 { isVirtual ? 0 : 1 }

  static func make(scheduler: any Scheduler, seed: UInt64) -> any CommandedAir {
    guard isVirtual else { return Air(scheduler: scheduler, seed: seed) }
    return VirtualAir(scheduler: scheduler, seed: seed, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
  }
}

/// An adapter of either kind, as tests command it.
protocol StagedAdapter {
  var seam: any Adapter { get }
  func vanish()
  func comeBack()
  /// Puts it out of order.
  func fail()
}

extension SimulatedAdapter: StagedAdapter {
  var seam: any Adapter { self }
  func fail() { fail(AdapterProblem(kind: .hardware, message: "broken", remedy: "repair it")) }
}

extension VirtualAdapter: StagedAdapter {
  var seam: any Adapter { host }
  func fail() { stopAnswering() }
}

/// Runs each test of a suite on simulated adapters, then on virtual ones.
struct OnBothAirs: TestTrait, SuiteTrait, TestScoping {
  let isRecursive = true

  func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
  ) async throws {
    try await function()
    guard !test.traits.contains(where: { $0 is OnSimulatedAir }) else { return }
    try await Airs.$isVirtual.withValue(true) { try await function() }
  }
}

/// A test of a suite that is run on both, for simulated adapters alone.
struct OnSimulatedAir: TestTrait {
  /// The difference on virtual adapters.
  let reason: Comment
}

extension Trait where Self == OnSimulatedAir {
  /// Runs a test on simulated adapters alone.
  static func onSimulatedAir(_ reason: Comment) -> Self { OnSimulatedAir(reason: reason) }
}

extension Trait where Self == OnBothAirs {
  /// Runs each test of a suite on simulated adapters, then on virtual ones.
  static var onBothAirs: Self { OnBothAirs() }
}
