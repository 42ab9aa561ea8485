import Adapter
import BledRPC
import Bluetooth
import Testing

@testable import BledCore

/// Subrating as sessions request and observe it.
@Suite struct LinkSubratingTests {
  private let world = World()

  private var link: ScriptedLink? { world.daemon.links.links.first?.link as? ScriptedLink }

  @Test("Wishes of several sessions are merged: the lowest factor, the highest continuation number that fits it")
  func merged() throws {
    let (first, second) = (world.client(), world.client())
    let id = try world.connect(first, world.peer()).peripheral
    _ = try second.call(PeripheralConnect.self, .init(peripheral: id))
    world.settle()
    let sparing = LinkWish(minimumSubrate: 4, maximumSubrate: 10, continuation: 1)
    _ = try first.result(PeripheralSetParameters.self, .init(peripheral: id, parameters: sparing))
    #expect(link?.requested == [ConnectionParameters(subrate: 4...10, continuation: 1)])
    let quicker = LinkWish(maximumSubrate: 5, continuation: 4)
    _ = try second.result(PeripheralSetParameters.self, .init(peripheral: id, parameters: quicker))
    #expect(link?.requested.last == ConnectionParameters(subrate: 4...5, continuation: 4))
    let quickest = LinkWish(maximumSubrate: 3, continuation: 0)
    _ = try second.result(PeripheralSetParameters.self, .init(peripheral: id, parameters: quickest))
    #expect(link?.requested.last == ConnectionParameters(subrate: 3...3, continuation: 1))
    // A request without subrating uses each event.
    _ = try second.result(PeripheralSetParameters.self, .init(peripheral: id, parameters: LinkWish(latency: 0)))
    #expect(link?.requested.last == ConnectionParameters())
    second.die()
    world.settle()
    #expect(link?.requested.last == ConnectionParameters(subrate: 4...10, continuation: 1))
  }

  @Test("What is in force is told, and what a device changes against the wishes is corrected")
  func told() throws {
    let client = world.client()
    let id = try world.connect(client, world.peer()).peripheral
    let wish = LinkWish(minimumInterval: 0.03, maximumInterval: 0.03, minimumSubrate: 2, maximumSubrate: 4)
    _ = try client.result(PeripheralSetParameters.self, .init(peripheral: id, parameters: wish))
    client.forget()
    var parameters = LinkParameters(
      interval: .milliseconds(30), latency: 0, supervisionTimeout: .seconds(4), subrate: 3, continuation: 1)
    link?.change(to: parameters)
    let told = try #require(try client.notifications(PeripheralParametersChanged.self).first)
    #expect(told.subrate == 3 && told.continuation == 1 && told.interval == 0.03)
    #expect(link?.requested.count == 1)
    (parameters.subrate, parameters.continuation) = (1, 0)
    link?.change(to: parameters)
    let known = try client.result(PeripheralParameters.self, .init(peripheral: id))
    #expect(known.subrate == nil && known.continuation == nil)
    #expect(link?.requested.count == 2 && link?.requested.last?.subrate == 2...4)
  }

  @Test("What a wish leaves out fits the rest")
  func defaults() throws {
    func parameters(_ wish: LinkWish) throws -> ConnectionParameters { try ConnectionParameters(wish) }
    #expect(try parameters(LinkWish(minimumSubrate: 4)) == ConnectionParameters(subrate: 4...4))
    #expect(try parameters(LinkWish(maximumSubrate: 4)) == ConnectionParameters(subrate: 4...4))
    let slow = try parameters(LinkWish(maximumInterval: 0.1, latency: 4, maximumSubrate: 10))
    #expect(slow.supervisionTimeout == .milliseconds(10_100))
  }
}
