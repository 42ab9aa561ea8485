import Adapter
import BledRPC
import Testing

@testable import BledCore

/// Quirks of controllers: kept over restarts, and shown.
@Suite struct QuirkDirectoryTests {
  private let scheduler = VirtualScheduler()
  private let storage: MemoryStorage
  private let model = QuirkTable.Model(modalias: "usb:v0A12p0001", company: 10, hciRevision: 1, revision: 2)

  init() { storage = MemoryStorage(scheduler: scheduler) }

  @Test("What an adapter learns is kept for the next start, until the file is deleted")
  func restart() throws {
    let world = World(scheduler: scheduler, storage: storage)
    let keeper = try #require(world.adapter.quirkKeeper)
    let now = scheduler.secondsSinceEpoch
    keeper.quirks.learn(.extendedScanning, of: model, at: now - 1000)
    keeper.quirks.learn(.exclusion(.connecting, beside: .scanning), of: model, at: now)
    // A controller of unknown make could be any.
    keeper.quirks.learn(.silence, of: .init(), at: now)
    scheduler.advance(by: .seconds(2))
    #expect(storage.files["quirks"] != nil)
    let next = try #require(World(scheduler: scheduler, storage: storage).adapter.quirkKeeper)
    #expect(
      next.quirks.entries(of: model) == [
        .init(.extendedScanning, learned: now - 1000), .init(.exclusion(.connecting, beside: .scanning), learned: now),
      ])
    #expect(next.quirks.entries(of: .init()) == [])
    storage.files["quirks"] = nil
    #expect(try #require(World(scheduler: scheduler, storage: storage).adapter.quirkKeeper).quirks == QuirkTable())
  }

  @Test func aQuirkIsForgottenAfter30Days() throws {
    let world = World(scheduler: scheduler, storage: storage)
    let keeper = try #require(world.adapter.quirkKeeper)
    let month = 30.0 * 24 * 60 * 60
    let now = scheduler.secondsSinceEpoch
    keeper.quirks.learn(.silence, of: model, at: now - month - 10)
    keeper.quirks.learn(.restarts, of: model, at: now - month + 10)
    scheduler.advance(by: .seconds(2))
    let next = try #require(World(scheduler: scheduler, storage: storage).adapter.quirkKeeper)
    #expect(next.quirks.quirks(of: model) == [.restarts])
  }

  @Test("Quirks and the times since the controller was heard are listed and measured")
  func shown() throws {
    let world = World()
    let client = world.client()
    #expect(try client.result(AdapterList.self, Empty()).adapters.first?.quirks == nil)
    world.adapter.information.quirks = [.init(.extendedScanning, learned: 1000)]
    world.adapter.silence = ControllerSilence(report: .seconds(3), event: .milliseconds(500))
    let adapter = try #require(try client.result(AdapterList.self, Empty()).adapters.first)
    let quirk = try #require(adapter.quirks?.first)
    #expect(quirk.quirk == "extendedScanning" && quirk.reason.contains("receives nothing") && quirk.learned == 1000)
    #expect(adapter.sinceReport == 3 && adapter.sinceEvent == 0.5)
    func sample(_ name: String) -> Metric.Sample? { world.daemon.metrics.first { $0.name == name }?.samples.first }
    #expect(sample("bled_adapter_report_age_seconds")?.value == 3)
    #expect(sample("bled_adapter_event_age_seconds")?.value == 0.5)
    #expect(
      sample("bled_adapter_quirk")?.labels == ["adapter": "hci0", "quirk": "extendedScanning", "origin": "learned"])
    world.adapter.state = .off
    #expect(try client.result(AdapterList.self, Empty()).adapters.first?.sinceReport == nil)
    #expect(sample("bled_adapter_event_age_seconds") == nil)
  }
}
