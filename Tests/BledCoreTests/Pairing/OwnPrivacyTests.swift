import Adapter
import Testing

@testable import BledCore

@Suite("The secret of our private addresses")
struct OwnPrivacyTests {
  private let scheduler = VirtualScheduler()

  /// The settings that an adapter receives at a start of the daemon.
  private func told(_ storage: MemoryStorage, rotation: Duration? = .seconds(900)) -> PrivacySettings? {
    let world = World(scheduler: scheduler, storage: storage)
    world.daemon.setPrivacy(rotation)
    let adapter = ScriptedAdapter(scheduler: scheduler)
    world.daemon.add(adapter)
    world.settle()
    return adapter.privacy
  }

  @Test("It is made once, and another one where it was lost; without privacy there is none")
  func secret() throws {
    let storage = MemoryStorage(scheduler: scheduler)
    #expect(told(storage, rotation: nil) == nil && storage.files["privacy"] == nil)
    let first = try #require(told(storage))
    #expect(first.root.count == 16 && first.rotation == .seconds(900))
    #expect(told(storage)?.root == first.root)
    storage.files["privacy"] = nil
    let second = try #require(told(storage))
    #expect(second.root != first.root)
  }
}
