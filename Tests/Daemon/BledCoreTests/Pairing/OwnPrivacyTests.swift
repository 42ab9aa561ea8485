import Adapter
import Bluetooth
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

  @Test("A controller without an address has the same one at every start, with and without privacy")
  func spareAddress() {
    func spare(_ storage: MemoryStorage, _ rotation: Duration?, _ name: String) -> DeviceAddress {
      let world = World(scheduler: scheduler, storage: storage)
      world.daemon.setPrivacy(rotation)
      defer { world.settle() }
      return world.daemon.spareAddress(of: name)
    }
    let storage = MemoryStorage(scheduler: scheduler)
    let first = spare(storage, nil, "h4:/dev/ttyACM0")
    #expect(first.isStaticRandom)
    #expect(spare(storage, nil, "h4:/dev/ttyACM0") == first)
    #expect(spare(storage, .seconds(900), "h4:/dev/ttyACM0") == first)
    #expect(spare(storage, nil, "h4:/dev/ttyACM1") != first)
    #expect(spare(MemoryStorage(scheduler: scheduler), nil, "h4:/dev/ttyACM0") != first)
  }
}
