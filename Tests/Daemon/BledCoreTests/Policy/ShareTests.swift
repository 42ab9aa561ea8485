import Adapter
import BledRPC
import Testing

@testable import BledCore

/// The few places of an adapter are not one user's alone.
struct ShareTests {
  @Test("one user publishes most of the numbers for channels of an adapter, not the last ones; another user has some")
  func numbersForChannels() throws {
    var limits = Limits()
    limits.perSession[.channels] = 128
    let world = World(limits: limits)
    let greedy = world.client(user: 1000)
    var names: Set<String?> = []
    for psm in UInt16(0x80)...0xFF {
      let error = try greedy.error(L2CAPPublish.self, .init(psm: psm))
      if error != nil { names.insert(error?.data?.name) }
    }
    #expect(names == ["limitReached"])
    let free = try #require((UInt16(0x80)...0xFF).first { world.adapter.published[$0] == nil })
    _ = try world.client(user: 1001).result(L2CAPPublish.self, .init(psm: free))
  }

  @Test("one user has most of the places of an adapter on the air, not the last one; another user has that")
  func placesOnTheAir() throws {
    let world = World()
    #expect(world.adapter.information.maximumAdvertisingSets == 1)
    let greedy = world.client(user: 1000)
    for number in 0..<15 { try greedy.call(AdvertisingStart.self, .init(name: "\(number)")) }
    #expect(try greedy.error(AdvertisingStart.self, .init(name: "15"))?.data?.name == "advertisingSetsExhausted")
    let other = world.client(user: 1001)
    try other.call(AdvertisingStart.self, .init(name: "other"))
    #expect(world.adapter.advertisements.count == 16)
  }
}
