import Adapter
import Bluetooth
import Testing

@testable import SimulatedAdapter

/// Trains with subevents, and trains that go over links, between two adapters.
@Suite(.onBothAirs) struct SimulatedSubeventTests {
  private let scheduler = VirtualScheduler()
  private let sender: AdapterStage
  private let listener: AdapterStage
  private let set = AdvertisingSetID(1)
  private static let scenario = "{ adapter: { advertisingDataLength: 1650 } }"

  private var train: PeriodicTrain { PeriodicTrain(address: sender.adapter.information.address, sid: Airs.firstSID) }

  init() throws {
    let air = Airs.make(scheduler: scheduler, seed: 3)
    sender = try AdapterStage(Self.scenario, id: "sender", air: air, scheduler: scheduler)
    listener = try AdapterStage(Self.scenario, id: "listener", air: air, scheduler: scheduler)
    for world in [sender, listener] { world.adapter.start() }
    scheduler.advance(by: .seconds(1))
    for world in [sender, listener] { world.forget() }
  }

  /// The train is on the air: four subevents in 100 ms, and in each six slots of 2.5 ms after 5 ms.
  private func send(_ kind: AdvertisingParameters.Kind = .nonconnectable) {
    var parameters = AdvertisingParameters(kind: kind, data: [2, 1, 6])
    parameters.isExtended = true
    parameters.periodic = PeriodicAdvertising(interval: .milliseconds(100), data: [])
    parameters.periodic?.responses = ResponseSlots(
      subevents: 4, subeventInterval: .milliseconds(25), delay: .milliseconds(5), spacing: .microseconds(2500),
      count: 6)
    sender.adapter.setAdvertising(set, parameters)
    scheduler.advance(by: .seconds(1))
  }

  /// The listener follows it.
  private func follow() {
    listener.adapter.setScan(ScanParameters(interval: .milliseconds(10), window: .milliseconds(10)))
    listener.adapter.setSync(train, SyncParameters(timeout: .seconds(2)))
    scheduler.advance(by: .seconds(1))
    listener.adapter.setScan(nil)
  }

  /// The outcome of a call, with its duration.
  private func outcome(_ call: (@escaping (BluetoothError?) -> Void) -> Void) -> String {
    var outcome: String?
    call { outcome = $0?.name ?? "done" }
    scheduler.run(for: .seconds(1)) { outcome != nil }
    return outcome ?? "none"
  }

  private func send(_ subevent: UInt8, _ data: UInt8..., slots: UInt8 = 6) -> String {
    outcome {
      sender.adapter.setSubevent(SubeventData(subevent: subevent, data: data, firstSlot: 0, slots: slots), of: set, $0)
    }
  }

  private func choose(_ subevents: UInt8...) -> String {
    outcome { listener.adapter.setSubevents(subevents, of: train, $0) }
  }

  private func respond(to place: SubeventPlace, in subevent: UInt8, slot: UInt8) -> String {
    outcome {
      listener.adapter.respond(TrainResponse(to: place, subevent: subevent, slot: slot, data: [0xA5]), to: train, $0)
    }
  }

  /// The packets of the train, and the responses.
  private func observe() -> Observation {
    let observation = Observation()
    let (first, second) = (listener.adapter.onEvent, sender.adapter.onEvent)
    listener.adapter.onEvent = { event in
      if case .periodic(_, .received(let packet)) = event { observation.packets.append(packet) }
      first?(event)
    }
    sender.adapter.onEvent = { event in
      if case .responses(_, let responses) = event { observation.responses.append(responses) }
      second?(event)
    }
    return observation
  }

  private final class Observation {
    var packets: [PeriodicPacket] = []
    var responses: [SubeventResponses] = []
  }

  @Test func aListenerHearsItsSubeventsAndRespondsInTime() throws {
    send()
    follow()
    #expect(listener.trace.contains { $0.contains("synchronised") && $0.contains("count: 4") })
    #expect(choose(1, 3) == "done")
    let observation = observe()
    // One that is not chosen, and one in the next event.
    #expect(send(2, 8) == "done" && send(1, 7) == "done")
    scheduler.run(for: .seconds(1)) { !observation.packets.isEmpty }
    let packet = try #require(observation.packets.first)
    let place = try #require(packet.place)
    #expect(packet.data == [7] && place.subevent == 1)
    // Now is the start of the subevent: its first slot begins 5 ms later.
    #expect(respond(to: place, in: 1, slot: 4) == "done")
    scheduler.advance(by: .milliseconds(20))
    let responses = try #require(observation.responses.first)
    #expect(responses.subevent == 1 && responses.wasSent)
    #expect(responses.responses.map(\.slot) == [4] && responses.responses.map(\.data) == [[0xA5]])
    scheduler.advance(by: .seconds(1))
    #expect(observation.packets.count == 1 && observation.responses.count == 1, "data is sent once")
    // The slot of the last subevent of that event has passed, and so has that of the next event.
    #expect(respond(to: place, in: 1, slot: 4) == "packetTooLate")
    #expect(respond(to: place, in: 0, slot: 4) == "packetTooLate")
  }

  @Test func aResponseMayBeInALaterSubevent() throws {
    send()
    follow()
    #expect(choose(2) == "done")
    let observation = observe()
    #expect(send(2, 8) == "done")
    scheduler.run(for: .seconds(1)) { !observation.packets.isEmpty }
    let place = try #require(observation.packets.first?.place)
    // That is one of the next event.
    #expect(respond(to: place, in: 1, slot: 0) == "done")
    #expect(send(1, 9) == "done")
    scheduler.advance(by: .milliseconds(100))
    #expect(observation.responses.map(\.subevent) == [1])
  }

  @Test func slotsThatAreNotLeftToDevicesAreNotHeard() throws {
    send()
    follow()
    #expect(choose(0) == "done")
    let observation = observe()
    #expect(send(0, 7, slots: 2) == "done")
    scheduler.run(for: .seconds(1)) { !observation.packets.isEmpty }
    let place = try #require(observation.packets.first?.place)
    #expect(respond(to: place, in: 0, slot: 2) == "done")
    #expect(respond(to: place, in: 0, slot: 6) == "invalidHCICommandParameters")
    #expect(respond(to: place, in: 4, slot: 0) == "invalidHCICommandParameters")
    scheduler.advance(by: .seconds(1))
    #expect(observation.responses.isEmpty)
  }

  @Test func requestsWithoutATrainAreRefused() {
    #expect(send(0, 7) == "unknownHandle")
    #expect(choose(0) == "unknownHandle")
    #expect(respond(to: SubeventPlace(event: 0, subevent: 0), in: 0, slot: 0) == "unknownHandle")
    send()
    follow()
    #expect(choose(4) == "invalidHCICommandParameters")
    var outcomes: [String] = []
    for octet in UInt8(0)..<2 {
      let data = SubeventData(subevent: 0, data: [octet], firstSlot: 0, slots: 6)
      sender.adapter.setSubevent(data, of: set) { outcomes.append($0?.name ?? "done") }
    }
    sender.adapter.setAdvertising(set, nil)
    scheduler.advance(by: .zero)
    #expect(outcomes.sorted() == ["cancelled", "unknownHandle"])
    scheduler.advance(by: .seconds(3))
    #expect(listener.trace.last?.hasSuffix("lost") == true)
    #expect(choose(0) == "unknownHandle")
    listener.forget()
    send()
    follow()
    #expect(listener.trace.contains { $0.contains("synchronised") })
    #expect(choose(0) == "done")
  }

  /// The listener is connected to the sender.
  private func connect() throws -> (sender: any Link, listener: any Link) {
    sender.adapter.setAdvertising(AdvertisingSetID(2), AdvertisingParameters(isConnectable: true, data: []))
    listener.adapter.connect(to: sender.adapter.information.address, ConnectionParameters())
    scheduler.advance(by: .seconds(3))
    return (try #require(sender.links.last), try #require(listener.links.last))
  }

  @Test func aTrainGoesOverALink() throws {
    send()
    let links = try connect()
    #expect(outcome { links.sender.transfer(.own(set), serviceData: 7, $0) } == "done")
    scheduler.advance(by: .seconds(1))
    var received: Result<ReceivedTrain, BluetoothError>?
    links.listener.receiveTrain(.following(interval: nil)) { received = $0 }
    scheduler.advance(by: .seconds(1))
    #expect(received == nil, "an earlier one is ignored")
    #expect(outcome { links.sender.transfer(.own(set), serviceData: 7, $0) } == "done")
    scheduler.run(for: .seconds(1)) { received != nil }
    let taken = try #require(received).get()
    #expect(taken.train == train && taken.serviceData == 7 && taken.subevents?.count == 4)
    #expect(choose(0) == "done")
    let observation = observe()
    #expect(send(0, 7) == "done")
    scheduler.advance(by: .milliseconds(100))
    #expect(observation.packets.map(\.data) == [[7]])
  }

  @Test(.onSimulatedAir("a controller does not receive its own train")) func aTrainGoesBack() throws {
    send()
    follow()
    let links = try connect()
    var back: Result<ReceivedTrain, BluetoothError>?
    links.sender.receiveTrain(.following(interval: nil)) { back = $0 }
    #expect(outcome { links.listener.transfer(.followed(train), serviceData: 8, $0) } == "done")
    scheduler.run(for: .seconds(1)) { back != nil }
    #expect(try #require(back).get().serviceData == 8)
  }

  @Test func aWaitForATrainEndsWithTheLink() throws {
    send()
    let links = try connect()
    var outcomes: [String] = []
    func wait() {
      links.listener.receiveTrain(.following(interval: nil)) { result in
        if case .failure(let error) = result { outcomes.append(error.name) }
      }
    }
    wait()
    wait()
    links.listener.stopReceivingTrain()
    scheduler.advance(by: .seconds(1))
    #expect(outcomes.sorted() == ["alreadyInProgress", "cancelled"])
    wait()
    links.sender.disconnect()
    scheduler.advance(by: .seconds(1))
    #expect(outcomes.last == "notConnected")
    #expect(outcome { links.sender.transfer(.own(set), serviceData: 0, $0) } == "notConnected")
  }

  @Test(.onSimulatedAir("the errors have other words")) func aSideWithoutItIsNamed() throws {
    let names = try AdapterStage.on("")
    let link = try #require(names.connect(1))
    var message: String?
    link.transfer(.own(set), serviceData: 0) { message = $0?.message }
    #expect(message?.contains("of this adapter") == true)
    send()
    let links = try connect()
    #expect(outcome { links.sender.transfer(.own(AdvertisingSetID(9)), serviceData: 0, $0) } == "unknownHandle")
    #expect(outcome { links.sender.transfer(.followed(train), serviceData: 0, $0) } == "unknownHandle")
  }
}
