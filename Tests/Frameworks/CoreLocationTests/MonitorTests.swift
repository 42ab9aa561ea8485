@testable import CoreLocation
import DaemonTestSupport
import Testing

@Suite(.timeLimit(.minutes(5))) struct MonitorTests {
  private static let uuid = UUID(uuidString: "E2C56DB5-DFFB-48D2-B060-D0F5A71096E0") ?? UUID()
  private static let other = UUID(uuidString: "00000000-0000-0000-0000-000000000001") ?? UUID()
  private static let scenario = """
    { "devices": [
      { "name": "Near", "address": "C0:DE:00:00:02:02", "addressType": "random", "connectable": false, "interval": 0.05,
        "advertising": { "manufacturerData": "4c000215e2c56db5dffb48d2b060d0f5a71096e000010003c5" } },
    ] }
    """

  @Test("conditions of beacons have events, with the beacon that was heard, and records")
  func beacons() async throws {
    let daemon = try await Daemon(adapters: 1, scenario: Self.scenario)
    let monitor = CLMonitor(socket: daemon.socket)
    var events = await monitor.events.makeAsyncIterator()
    await monitor.add(CLMonitor.BeaconIdentityCondition(uuid: Self.uuid), identifier: "here")
    // On a busy machine the beacon may count as away before it is received, and again later.
    var here = try #require(try await events.next())
    while here.state != .satisfied { here = try #require(try await events.next()) }
    #expect(here.identifier == "here")
    let heard = CLMonitor.BeaconIdentityCondition(uuid: Self.uuid, major: 1, minor: 3)
    #expect(here.refinement as? CLMonitor.BeaconIdentityCondition == heard)
    await monitor.add(CLMonitor.BeaconIdentityCondition(uuid: Self.other, major: 7), identifier: "away")
    var away = try #require(try await events.next())
    while away.identifier != "away" { away = try #require(try await events.next()) }
    #expect(away.state == .unsatisfied && away.refinement == nil)
    #expect(await monitor.identifiers == ["away", "here"])
    await monitor.remove("here")
    #expect(await monitor.identifiers == ["away"])
    let record = try #require(await monitor.record(for: "away"))
    #expect(record.lastEvent.state == .unsatisfied && record.lastEvent.date == away.date)
    #expect((record.condition as? CLMonitor.BeaconIdentityCondition)?.major == 7)
    #expect(await monitor.record(for: "here") == nil)
  }

  @Test("a state that the program assumes is not told, another one is")
  func assumed() async throws {
    let condition = CLMonitor.BeaconIdentityCondition(uuid: Self.uuid, major: 1)
    let monitor = CLMonitor(socket: "/nowhere/bled.sock")
    await monitor.add(condition, identifier: "right", assuming: .satisfied)
    #expect(await monitor.record(for: "right")?.lastEvent.state == .satisfied)
    let (stream, output) = AsyncThrowingStream.makeStream(of: CLMonitor.Event.self)
    let engine = MonitorEngine(socket: "/nowhere/bled.sock", output)
    engine.add(condition, "right", .satisfied)
    engine.add(condition, "wrong", .unsatisfied)
    for identifier in ["right", "wrong"] { engine.happened(.beacons(.determined(identifier, .inside))) }
    var events = stream.makeAsyncIterator()
    #expect(try await events.next()?.identifier == "wrong")
    engine.close()
  }

  @Test("conditions that cannot be monitored say so, and the end of the monitor ends the events")
  func unmonitored() async throws {
    var monitor: CLMonitor? = CLMonitor(socket: "/nowhere/bled.sock")
    let events = try #require(await monitor?.events)
    let circle = CLMonitor.CircularGeographicCondition(
      center: CLLocationCoordinate2D(latitude: 0, longitude: 0), radius: 1)
    await monitor?.add(circle, identifier: "circle")
    for number in 1..<20 {
      let condition = CLMonitor.BeaconIdentityCondition(uuid: Self.uuid, major: UInt16(number))
      await monitor?.add(condition, identifier: "\(number)")
    }
    await monitor?.add(CLMonitor.BeaconIdentityCondition(uuid: Self.uuid), identifier: "many")
    #expect(await monitor?.identifiers.count == 20)
    monitor = nil
    var told: [CLMonitor.Event] = []
    for try await event in events { told.append(event) }
    #expect(told.map(\.identifier) == ["circle", "many"] && told.allSatisfy { $0.state == .unmonitored })
    #expect(told.first?.conditionUnsupported == true && told.last?.conditionLimitExceeded == true)
  }

  @Test("a user without the permission to scan is told, and conditions are monitored when that has changed")
  func denied() async throws {
    let (stream, output) = AsyncThrowingStream.makeStream(of: CLMonitor.Event.self)
    let engine = MonitorEngine(socket: "/nowhere/bled.sock", output)
    engine.add(CLMonitor.BeaconIdentityCondition(uuid: Self.uuid), "here", .unknown)
    engine.happened(.beacons(.monitoringFailed("here", .denied)))
    var events = stream.makeAsyncIterator()
    let event = try #require(try await events.next())
    #expect(event.state == .unmonitored && event.authorizationDenied)
    engine.happened(.permitted(true))
    #expect(engine.record(for: "here")?.lastEvent.state == .unknown)
    engine.happened(.beacons(.determined("here", .inside)))
    #expect(try await events.next()?.state == .satisfied)
    engine.close()
  }
}
