import Adapter
import Bluetooth
import TestSupport
import Testing

@testable import VirtualController

/// Advertisements between hosts of our own, and of devices that only advertise.
@Suite struct AdvertisingTests {
  private func beacon(_ number: UInt64, on air: Air) -> Broadcast {
    var advertisement = Advertisement()
    advertisement.address = .init(DeviceAddress(value: 0xC000_0000_0000 + number, kind: .random))
    advertisement.isConnectable = false
    advertisement.data = [2, 1, 6]
    return Broadcast(advertisement, every: .milliseconds(100), seed: air.seed, stream: number)
  }

  @Test("Devices that only advertise cost nothing while nobody listens")
  func beacons() {
    let nodes = TwoNodes()
    for number in UInt64(0)..<200 { nodes.air.add(beacon(number, on: nodes.air)) }
    // One step: no alarm but the hosts' own rings in an hour.
    #expect(nodes.scheduler.advance(to: nodes.scheduler.now.advanced(by: .seconds(3600)), ringing: 100))
    nodes.central.adapter.setScan(ScanParameters())
    nodes.scheduler.advance(by: .seconds(5))
    #expect(Set(nodes.central.reports.map(\.address)).count == 200)
    nodes.central.adapter.setScan(nil)
    nodes.scheduler.advance(by: .seconds(1))
    #expect(nodes.scheduler.advance(to: nodes.scheduler.now.advanced(by: .seconds(3600)), ringing: 100))
  }

  @Test("Controllers that do not listen are not asked about advertisements")
  func listeners() {
    let nodes = TwoNodes()
    var questions = (central: 0, peripheral: 0)
    nodes.central.controller.receivesFrom = { _ in
      questions.central += 1
      return true
    }
    nodes.peripheral.controller.receivesFrom = { _ in
      questions.peripheral += 1
      return true
    }
    for number in UInt64(0)..<10 { nodes.air.add(beacon(number, on: nodes.air)) }
    nodes.central.adapter.setScan(ScanParameters())
    nodes.scheduler.advance(by: .seconds(5))
    #expect(questions.central > 400 && questions.peripheral == 0)
  }

  @Test("A controller that begins or ends to listen leaves the others alone")
  func audience() {
    let nodes = TwoNodes()
    for number in UInt64(0)..<100 { nodes.air.add(beacon(number, on: nodes.air)) }
    let others = (3...12).map { Node($0, on: nodes.air) }
    nodes.scheduler.run { others.allSatisfy { $0.adapter.state == .on } }
    var questions = 0
    for other in others {
      other.controller.receivesFrom = { _ in
        questions += 1
        return false
      }
      other.adapter.setScan(ScanParameters())
      nodes.scheduler.advance(by: .seconds(1))
    }
    // Each was asked once about each of the beacons.
    #expect(questions == 1000)
    for other in others {
      other.adapter.setScan(nil)
      nodes.scheduler.advance(by: .seconds(1))
    }
    #expect(questions == 1000 && others.allSatisfy { !$0.controller.isListening })
  }

  @Test("An advertisement is sent until its last listener has gone")
  func lastListener() {
    let nodes = TwoNodes()
    for number in UInt64(0)..<100 { nodes.air.add(beacon(number, on: nodes.air)) }
    for node in [nodes.central, nodes.peripheral] { node.adapter.setScan(ScanParameters()) }
    nodes.scheduler.advance(by: .seconds(5))
    nodes.central.adapter.setScan(nil)
    nodes.scheduler.advance(by: .seconds(1))
    let before = nodes.peripheral.reports.count
    nodes.scheduler.advance(by: .seconds(5))
    #expect(Set(nodes.peripheral.reports.dropFirst(before).map(\.address)).count == 100)
    nodes.peripheral.controller.isInReach = false
    #expect(nodes.scheduler.advance(to: nodes.scheduler.now.advanced(by: .seconds(60)), ringing: 1000))
    let silent = nodes.peripheral.reports.count
    nodes.peripheral.controller.isInReach = true
    nodes.scheduler.advance(by: .seconds(5))
    #expect(Set(nodes.peripheral.reports.dropFirst(silent).map(\.address)).count == 100)
  }

  @Test("Devices that only advertise cost nothing while a controller connects to another device")
  func initiator() {
    let nodes = TwoNodes()
    for number in UInt64(0)..<200 { nodes.air.add(beacon(number, on: nodes.air)) }
    nodes.central.adapter.connect(to: nodes.peripheral.address, ConnectionParameters())
    nodes.scheduler.advance(by: .seconds(1))
    #expect(nodes.scheduler.advance(to: nodes.scheduler.now.advanced(by: .seconds(60)), ringing: 1000))
  }

  @Test("Long data of several sets arrive whole, and legacy scanners receive legacy advertisements alone")
  func sets() {
    let nodes = TwoNodes()
    let legacy = Node(3, on: nodes.air) { $0.features = .bluetooth40 }
    nodes.scheduler.run { legacy.adapter.state == .on }
    let long = [UInt8](repeating: 0xFF, count: 1) + [UInt8](repeating: 1, count: 500)
    let data = (0..<2).flatMap { _ in [UInt8(250)] + long.prefix(250) }
    var extended = AdvertisingParameters(isConnectable: false, data: data)
    extended.isExtended = true
    nodes.peripheral.adapter.setAdvertising(AdvertisingSetID(1), extended)
    nodes.peripheral.adapter.setAdvertising(AdvertisingSetID(2), AdvertisingParameters(data: [2, 1, 6]))
    for node in [nodes.central, legacy] { node.adapter.setScan(ScanParameters()) }
    nodes.scheduler.advance(by: .seconds(20))
    #expect(nodes.central.advertised == [data, [2, 1, 6]])
    #expect(legacy.advertised == [[2, 1, 6]])
  }

  @Test("Equal seeds give equal reports, others do not")
  func seeds() {
    func times(_ seed: UInt64) -> [Instant] {
      let nodes = TwoNodes(seed: seed)
      nodes.air.add(beacon(1, on: nodes.air))
      nodes.central.adapter.setScan(ScanParameters())
      var times: [Instant] = []
      for _ in 0..<10 {
        let count = nodes.central.reports.count
        nodes.scheduler.run(for: .seconds(10)) { nodes.central.reports.count > count }
        times.append(nodes.scheduler.now)
      }
      return times
    }
    #expect(times(1) == times(1))
    #expect(times(1) != times(2))
  }
}
