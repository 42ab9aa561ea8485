import Adapter
import Bluetooth
import HCI
import Testing

@testable import VirtualController

/// Trains between hosts of our own, and over their links.
@Suite struct TrainTransferTests {
  private static let set = AdvertisingSetID(7)

  private func train(of node: Node) -> PeriodicTrain { PeriodicTrain(address: node.address, sid: 1) }

  /// A node sends a train of 50 ms.
  private func send(_ node: Node, _ data: [UInt8] = [2, 10, 4]) {
    var parameters = AdvertisingParameters(kind: .nonconnectable, data: [2, 1, 6])
    parameters.isExtended = true
    parameters.periodic = PeriodicAdvertising(interval: .milliseconds(50), data: data, includesTxPower: true)
    node.adapter.setAdvertising(Self.set, parameters)
  }

  private func outcome(
    _ scheduler: VirtualScheduler, _ call: (@escaping (BluetoothError?) -> Void) -> Void
  ) -> String {
    var outcome: String?
    call { outcome = $0?.name ?? "done" }
    scheduler.run(for: .seconds(5)) { outcome != nil }
    return outcome ?? "none"
  }

  @Test("A host finds a train, follows it, loses it and finds it again")
  func follow() throws {
    let nodes = TwoNodes()
    send(nodes.central)
    nodes.scheduler.advance(by: .seconds(1))
    nodes.peripheral.adapter.setScan(ScanParameters())
    nodes.scheduler.advance(by: .seconds(1))
    let report = try #require(nodes.peripheral.reports.first)
    #expect(report.periodicInterval == .milliseconds(50))
    let train = PeriodicTrain(address: nodes.central.address, sid: try #require(report.sid))
    nodes.peripheral.adapter.setSync(train, SyncParameters(timeout: .seconds(1)))
    nodes.scheduler.advance(by: .seconds(5))
    #expect(nodes.peripheral.periodic.first == .synchronised(interval: .milliseconds(50), phy: .le1M))
    #expect(nodes.peripheral.trainData.count > 20 && nodes.peripheral.trainData.allSatisfy { $0 == [2, 10, 4] })
    nodes.central.controller.isInReach = false
    nodes.scheduler.advance(by: .seconds(3))
    #expect(nodes.peripheral.periodic.last == .lost)
    nodes.central.controller.isInReach = true
    let count = nodes.peripheral.trainData.count
    nodes.scheduler.advance(by: .seconds(5))
    #expect(nodes.peripheral.trainData.count > count + 20)
  }

  /// Both nodes are connected, and the central sends a train.
  private func connected(
    _ first: (inout ControllerModel) -> Void = { _ in }, _ second: (inout ControllerModel) -> Void = { _ in }
  ) throws -> (nodes: TwoNodes, central: any Link, peripheral: any Link) {
    let nodes = TwoNodes(seed: 1, first, second)
    nodes.connect()
    nodes.scheduler.advance(by: .seconds(1))
    send(nodes.central)
    nodes.scheduler.advance(by: .seconds(1))
    return (nodes, try #require(nodes.central.link), try #require(nodes.peripheral.link))
  }

  @Test("A train goes over a link to a host that waits for it, and from there to another one")
  func transfer() throws {
    let (nodes, central, peripheral) = try connected()
    let scheduler = nodes.scheduler
    // Nobody waits.
    #expect(outcome(scheduler) { central.transfer(.own(Self.set), serviceData: 7, $0) } == "done")
    scheduler.advance(by: .seconds(1))
    var received: [Result<ReceivedTrain, BluetoothError>] = []
    peripheral.receiveTrain(.following(interval: nil)) { received.append($0) }
    scheduler.advance(by: .seconds(1))
    #expect(received.isEmpty && nodes.peripheral.periodic.isEmpty)
    #expect(outcome(scheduler) { central.transfer(.own(Self.set), serviceData: 7, $0) } == "done")
    scheduler.advance(by: .seconds(1))
    let train = try #require(received.first).get()
    #expect(train.train.address == nodes.central.address && train.serviceData == 7)
    #expect(train.interval == .milliseconds(50) && nodes.peripheral.trainData.count > 5)
    // And on, to a third one.
    let third = Node(3, on: nodes.air)
    scheduler.run { third.adapter.state == .on }
    third.advertise()
    nodes.peripheral.adapter.connect(to: third.address, ConnectionParameters())
    scheduler.run(for: .seconds(10)) { third.link != nil }
    scheduler.advance(by: .seconds(1))
    try #require(third.link).receiveTrain(.following(interval: nil)) { received.append($0) }
    scheduler.advance(by: .seconds(1))
    let onward = try #require(nodes.peripheral.links.last)
    #expect(outcome(scheduler) { onward.transfer(.followed(train.train), serviceData: 8, $0) } == "done")
    scheduler.advance(by: .seconds(1))
    #expect(try #require(received.last).get().serviceData == 8 && third.trainData.count > 5)
  }

  @Test("A train that ended before it was heard fails, and the link's end ends the wait")
  func failures() throws {
    let (nodes, central, peripheral) = try connected()
    let scheduler = nodes.scheduler
    var received: [String] = []
    func wait() {
      peripheral.receiveTrain(.following(interval: nil)) { result in
        if case .failure(let error) = result { received.append(error.name) }
      }
      scheduler.advance(by: .milliseconds(500))
    }
    wait()
    nodes.air.setLoss(1, from: nodes.central.controller, to: nodes.peripheral.controller)
    var outcomes: [BluetoothError?] = []
    central.transfer(.own(Self.set), serviceData: 7) { outcomes.append($0) }
    scheduler.advance(by: .milliseconds(1))
    nodes.central.adapter.setAdvertising(Self.set, nil)
    scheduler.advance(by: .milliseconds(100))
    nodes.air.setLoss(0, from: nodes.central.controller, to: nodes.peripheral.controller)
    scheduler.advance(by: .seconds(2))
    #expect(outcomes == [nil] && received == ["connectionFailedToBeEstablished"])
    wait()
    central.disconnect()
    scheduler.advance(by: .seconds(1))
    #expect(received.last == "notConnected")
    #expect(outcome(scheduler) { central.transfer(.own(Self.set), serviceData: 0, $0) } == "notConnected")
  }

  @Test("A side without transfers is named, and so is a train that is not there")
  func lacking() throws {
    for isSender in [true, false] {
      let (nodes, central, _) = try connected(
        { if isSender { $0.features.remove(.periodicTransferSender) } },
        { if !isSender { $0.features.remove(.periodicTransferRecipient) } })
      #expect(outcome(nodes.scheduler) { central.transfer(.own(Self.set), serviceData: 0, $0) } == "notSupported")
    }
    let (nodes, central, _) = try connected()
    for train in [.own(AdvertisingSetID(9)), .followed(train(of: nodes.peripheral))] as [TransferredTrain] {
      #expect(outcome(nodes.scheduler) { central.transfer(train, serviceData: 0, $0) } == "unknownHandle")
    }
  }
}
