import Adapter
import EventLoop
import TestSupport
import Testing

@testable import Controllers

@Suite struct AdapterContextTests {
  /// The owner of the table of all adapters.
  private final class Keeper: QuirkKeeper {
    var quirks = QuirkTable()
  }

  private func context(_ keeper: Keeper, _ model: QuirkTable.Model) throws -> AdapterContext {
    let context = AdapterContext(
      name: "hci0", loop: try EventLoop(), scheduler: VirtualScheduler(), logger: LogLines().logger)
    context.keeper = keeper
    context.model = model
    return context
  }

  @Test("Quirks of a controller that names no make hold for its adapter alone")
  func nameless() throws {
    let keeper = Keeper()
    let model = QuirkTable.Model(revision: 3)
    let first = try context(keeper, model)
    let second = try context(keeper, model)
    #expect(first.note(.silence, true))
    #expect(!first.note(.silence, true), "it is known")
    #expect(keeper.quirks == QuirkTable())
    #expect(first.faults.map(\.quirk) == [.silence] && first.quirks.quirks(of: model) == [.silence])
    #expect(second.faults.isEmpty)
    #expect(first.note(.silence, false) && first.faults.isEmpty)
  }

  @Test func quirksOfAMakeAreShared() throws {
    let keeper = Keeper()
    let model = QuirkTable.Model(company: 0x0F, revision: 3)
    let first = try context(keeper, model)
    let second = try context(keeper, model)
    #expect(first.note(.silence, true))
    #expect(second.faults.map(\.quirk) == [.silence])
  }
}
