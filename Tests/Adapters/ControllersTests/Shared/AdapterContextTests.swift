import Adapter
import TestSupport
import Testing

@testable import Controllers

@Suite struct AdapterContextTests {
  /// The owner of the table of all adapters.
  private final class Keeper: QuirkKeeper {
    var quirks = QuirkTable()
  }

  private func context(_ keeper: Keeper, _ model: QuirkTable.Model) -> AdapterContext {
    let context = AdapterContext(name: "hci0", scheduler: VirtualScheduler(), logger: LogLines().logger)
    context.keeper = keeper
    context.model = model
    return context
  }

  @Test("Quirks of a controller that names no make hold for its adapter alone")
  func nameless() {
    let keeper = Keeper()
    let model = QuirkTable.Model(revision: 3)
    let first = context(keeper, model)
    let second = context(keeper, model)
    #expect(first.note(.silence, true))
    #expect(!first.note(.silence, true), "it is known")
    #expect(keeper.quirks == QuirkTable())
    #expect(first.faults.map(\.quirk) == [.silence] && first.quirks.quirks(of: model) == [.silence])
    #expect(second.faults.isEmpty)
    #expect(first.note(.silence, false) && first.faults.isEmpty)
  }

  @Test func quirksOfAMakeAreShared() {
    let keeper = Keeper()
    let model = QuirkTable.Model(company: 0x0F, revision: 3)
    let first = context(keeper, model)
    let second = context(keeper, model)
    #expect(first.note(.silence, true))
    #expect(second.faults.map(\.quirk) == [.silence])
  }
}
