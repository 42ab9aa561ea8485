import BledRPC
import Bluetooth
import BondedDevices
import MIDI
import Testing

@testable import MIDIGateway

@Suite("A bonded MIDI device")
struct MIDIDeviceTests {
  private let failure = GAPError.timeout.error("no answer")
  private let noteOn: MIDIMessage = .short([0x90, 60, 100])
  private var device = MIDIDevice(Piano.bond())

  /// The device is connected, its services are known, and it is subscribed to.
  private mutating func open(_ services: [ServiceDescription] = Piano.services()) -> [MIDIDevice.Action] {
    _ = device.handle(.begin)
    _ = device.handle(.answer(.connect, .success(.connected(adapter: Piano.adapter))))
    _ = device.handle(.answer(.parameters, .success(.parameters(.encrypted))))
    var actions = device.handle(.answer(.discover, .success(.services(services))))
    actions += device.handle(.answer(.read(3), .success(.value(Array("Grand".utf8), isWhole: true))))
    _ = device.handle(.answer(.subscribe(Piano.handle), .success(.done)))
    return actions
  }

  private func words(_ actions: [MIDIDevice.Action]) -> [String] {
    actions.compactMap { if case .say(let text) = $0 { text } else { nil } }
  }

  private func packets(_ actions: [MIDIDevice.Action]) -> [[UInt8]] {
    actions.compactMap { if case .call(.write(_, let octets, _)) = $0 { octets } else { nil } }
  }

  @Test("It gets a port; it is read, subscribed to, and asked for a short interval")
  mutating func opens() {
    let actions = open()
    #expect(
      actions == [
        .learned(hasService: true), .call(.read(3)), .call(.read(12)), .call(.subscribe(12)),
        .call(.setInterval(0.0075...0.015)), .output(.open(name: "Grand", delay: .milliseconds(15))),
      ])
    #expect(device.isWorking)
    let refused = device.handle(.answer(.read(12), .failure(failure)))
    #expect(refused == [], "an empty read is a custom of the specification, not a need")
  }

  @Test("Without a name that can be read, the port has that of the bond")
  mutating func bondsName() {
    let port = MIDIDevice.Action.output(.open(name: "Piano", delay: .milliseconds(15)))
    #expect(open([Piano.services()[1]]).contains(port), "the device has none")
    _ = device.handle(.servicesChanged)
    _ = device.handle(.answer(.discover, .success(.services(Piano.services()))))
    #expect(device.handle(.answer(.read(3), .failure(failure))) == [port])
  }

  @Test("A device without MIDI is let go")
  mutating func other() {
    let actions = open(Piano.otherServices)
    #expect(actions == [.learned(hasService: false), .call(.disconnect)])
    #expect(device.link.isLeftAlone && !device.isWorking)
  }

  @Test("A note is played, and released when the link ends")
  mutating func releases() {
    _ = open()
    let played = device.handle(.value(12, [0x80, 0x85, 0x90, 60, 100, 0x86, 0xB0, 64, 127]))
    #expect(played == [.output(.play([MIDIEvent(noteOn, at: 5), MIDIEvent(.short([0xB0, 64, 127]), at: 6)]))])
    #expect(device.handle(.value(11, [0x80, 0x85, 0x90, 61, 100])).isEmpty, "another characteristic")
    let ended = device.handle(.disconnected(isReconnecting: true))
    #expect(ended == [.output(.release([.short([0x80, 60, 64]), .short([0xB0, 64, 0])]))])
    #expect(device.handle(.value(12, [0x80, 0x85, 0x90, 60, 100])).isEmpty, "without a link")
  }

  @Test(
    "Notes are released when the services are read again", arguments: [MIDIDevice.Input.servicesChanged, .paired])
  mutating func releasesBetween(input: MIDIDevice.Input) {
    _ = open()
    _ = device.handle(.value(12, [0x80, 0x85, 0x90, 60, 100]))
    #expect(device.handle(input).contains(.output(.release([.short([0x80, 60, 64])]))))
    #expect(device.handle(.value(12, [0x80, 0x86, 0x80, 60, 0])).isEmpty, "it is missed")
  }

  @Test("Pedals that hold notes are released, and no other controllers")
  mutating func pedals() {
    _ = open()
    for number in UInt8(0)..<120 { _ = device.handle(.value(12, [0x80, 0x85, 0xB1, number, 127])) }
    let released = device.handle(.disconnected(isReconnecting: true))
    #expect(released == [.output(.release([64, 66, 69].map { .short([0xB1, $0, 0]) }))])
  }

  @Test("Lost values release notes, too", arguments: [MIDIDevice.Input.valuesLost, .subscriptionLost(12)])
  mutating func lost(input: MIDIDevice.Input) {
    _ = open()
    _ = device.handle(.value(12, [0x80, 0x85, 0x90, 60, 100, 61, 100, 60, 0]))
    let actions = device.handle(input)
    #expect(actions.first == .output(.release([.short([0x80, 61, 64])])))
    #expect(words(actions).count == 1 && words(device.handle(input)).isEmpty, "said once")
  }

  @Test("A system exclusive message that the link cuts off is not continued on the next")
  mutating func cut() {
    _ = open()
    _ = device.handle(.value(12, [0x80, 0x85, 0xF0, 1, 2]))
    _ = device.handle(.disconnected(isReconnecting: true))
    _ = device.handle(.connected(adapter: Piano.adapter))
    _ = device.handle(.answer(.parameters, .success(.parameters(.encrypted))))
    _ = device.handle(.answer(.discover, .success(.services(Piano.services()))))
    let actions = device.handle(.value(12, [0x80, 3, 4]))
    #expect(words(actions).count == 1 && actions.count == 1)
  }

  @Test("Messages of programs are packets; those that wait for an answer share one")
  mutating func writes() {
    _ = open()
    _ = device.handle(.parametersChanged(interval: 0.01125, mtu: 23))
    var all: [[UInt8]] = []
    for note in 0..<8 { all += packets(device.handle(.messages([.short([0x90, UInt8(note), 1])], at: 5))) }
    #expect(all == (0..<4).map { [0x80, 0x85, 0x90, $0, 1] }, "four writes are not answered")
    let next = device.handle(.answer(.write(12, [], response: false), .success(.done)))
    #expect(packets(next) == [[0x80, 0x85, 0x90, 4, 1, 5, 1, 6, 1, 7, 1]])
  }

  @Test("Programs wait while the link is slow")
  mutating func waits() {
    _ = open()
    let long: MIDIMessage = .exclusive([0xF0] + [UInt8](repeating: 1, count: 2000) + [0xF7])
    #expect(device.handle(.messages([long], at: 5)).contains(.output(.setReading(false))))
    var actions: [MIDIDevice.Action] = []
    for _ in 0..<60 where !actions.contains(.output(.setReading(true))) {
      actions = device.handle(.answer(.write(12, [], response: false), .success(.done)))
    }
    #expect(actions.contains(.output(.setReading(true))))
    _ = device.handle(.messages([long], at: 6))
    #expect(device.handle(.disconnected(isReconnecting: true)).contains(.output(.setReading(true))))
    #expect(device.handle(.messages([noteOn], at: 6)).isEmpty, "without a link messages are dropped")
  }

  @Test(
    "Messages that wait while the services are read again go on",
    arguments: [MIDIDevice.Input.servicesChanged, .paired])
  mutating func goesOn(input: MIDIDevice.Input) {
    _ = open()
    let long: MIDIMessage = .exclusive([0xF0] + [UInt8](repeating: 1, count: 2000) + [0xF7])
    #expect(device.handle(.messages([long], at: 5)).contains(.output(.setReading(false))))
    _ = device.handle(input)
    for _ in 0..<4 {
      let answered = device.handle(.answer(.write(12, [], response: false), .success(.done)))
      #expect(answered.isEmpty, "the handle may be of another characteristic now")
    }
    _ = device.handle(.answer(.parameters, .success(.parameters(.encrypted))))
    let found = device.handle(.answer(.discover, .success(.services(Piano.services()))))
    #expect(packets(found).count == 4)
  }

  @Test("A port that was closed while programs waited is opened anew, and programs wait again")
  mutating func reopened() {
    _ = open()
    let long: MIDIMessage = .exclusive([0xF0] + [UInt8](repeating: 1, count: 2000) + [0xF7])
    _ = device.handle(.messages([long], at: 5))
    _ = device.handle(.paired)
    _ = device.handle(.answer(.parameters, .success(.parameters(.encrypted))))
    let closed = device.handle(.answer(.discover, .success(.services(Piano.otherServices))))
    #expect(closed.contains(.output(.close)))
    _ = device.handle(.paired)
    #expect(packets(open()).isEmpty, "they were for the former device")
    #expect(device.handle(.messages([long], at: 5)).contains(.output(.setReading(false))))
  }

  @Test("A device that floods again and again fills no log")
  mutating func floods() {
    _ = open()
    #expect(words(device.handle(.subscriptionLost(12))).count == 1)
    #expect(device.handle(.subscriptionLost(12)) == [.call(.subscribe(12))])
  }

  @Test("Without writes that need no response, the others are used")
  mutating func responses() {
    _ = open(Piano.services(["read", "write", "notify"]))
    #expect(
      device.handle(.messages([noteOn], at: 5))
        .contains(.call(.write(12, [0x80, 0x85, 0x90, 60, 100], response: true))))
    let refused = device.handle(.answer(.write(12, [], response: true), .failure(failure)))
    #expect(words(refused) == ["refuses messages: no answer"])
    #expect(words(device.handle(.answer(.write(12, [], response: true), .failure(failure)))) == [], "said once")
  }

  @Test(
    "The delay is the connection interval, up to 15 ms", arguments: [(0.01125, 0.01125), (0.05, 0.015), (nil, 0.015)])
  mutating func delay(interval: Double?, delay: Double) {
    var other = device
    #expect(other.handle(.parametersChanged(interval: interval, mtu: 247)) == [], "there is no port yet")
    _ = open()
    #expect(device.handle(.parametersChanged(interval: interval, mtu: 247)) == [.output(.setDelay(.seconds(delay)))])
  }

  @Test("Without a sequencer the device is let go, and tried again")
  mutating func refused() {
    _ = open()
    let actions = device.handle(.refused)
    #expect(actions.first == .call(.disconnect) && actions.last == .pause(.seconds(2)))
    #expect(!device.isWorking)
  }

  @Test("Keys that are gone close the port")
  mutating func forgotten() {
    _ = open()
    _ = device.handle(.value(12, [0x80, 0x85, 0x90, 60, 100]))
    #expect(device.handle(.forgotten) == [.output(.release([.short([0x80, 60, 64])])), .output(.close)])
  }
}
