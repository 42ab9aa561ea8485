import Adapter
import BledConnection
import BledRPC
import Bluetooth
import BondedDevices
import MIDI
import SessionTestSupport
import Testing

@testable import MIDIGateway

/// The sequencer, played by a test.
private final class ScriptedSequencer: SequencerFiles {
  final class File: SequencerFile {
    let name: String
    let received: (SequencerInput) -> Void
    let clock: any Scheduler
    let port: UInt8 = 0
    var isReading = true
    var isClosed = false
    var isFull = false
    /// The messages that were passed on, with their times in milliseconds.
    var messages: [(time: Double, message: MIDIMessage)] = []

    init(_ name: String, _ clock: any Scheduler, _ received: @escaping (SequencerInput) -> Void) {
      self.name = name
      self.clock = clock
      self.received = received
    }

    func send(_ event: [UInt8]) -> Bool {
      messages += SequencerEvent.messages(in: event).map { (Double(clock.now.nanoseconds) / 1e6, $0) }
      return !isFull
    }

    func close() { isClosed = true }
  }

  private let clock: any Scheduler
  var files: [File] = []
  var refusal: SequencerFailure?

  init(_ clock: any Scheduler) { self.clock = clock }

  func open(
    _ name: String, _ received: @escaping (SequencerInput) -> Void
  ) throws(SequencerFailure) -> any SequencerFile {
    if let refusal { throw refusal }
    files.append(File(name, clock, received))
    return files[files.count - 1]
  }
}

private final class Memory: DeviceMemory {
  var devices: [DeviceAddress: Bool] = [:]
  func hasService(_ address: DeviceAddress) -> Bool? { devices[address] }
  func remember(_ address: DeviceAddress, hasService: Bool?) { devices[address] = hasService }
  func keep(_ kept: Set<DeviceAddress>) { devices = devices.filter { kept.contains($0.key) } }
}

@Suite("bled-midi between bled and the sequencer")
final class GatewayTests {
  private let daemon = ScriptedDaemon()
  private let clock = VirtualScheduler()
  private let sequencer: ScriptedSequencer
  private let memory = Memory()
  private let gateway: DeviceGateway<SequencerPorts>
  private var bonds = [Piano.bond()]
  private var log: [String] = []
  private var condition: DeviceCondition?
  private var calls: [(method: String, message: RPCMessage)] = []

  init() {
    sequencer = ScriptedSequencer(clock)
    gateway = DeviceGateway(daemon, clock, SequencerPorts(sequencer, clock), memory)
    daemon.adapters = [
      AdapterDescription(
        adapter: "hci0", kind: "simulated", address: Piano.adapter, addressType: "public", name: "here", state: "on",
        problem: nil, scanning: false, advertising: 0, links: 0)
    ]
    daemon.answer = { [unowned self] method, message, _ in
      calls.append((method, message))
      return answer(method)
    }
    gateway.say = { [unowned self] in log.append($0) }
    gateway.whenChanged = { [unowned self] in condition = $0 }
    gateway.start()
    settle()
  }

  private func answer(_ method: String) -> ScriptedDaemon.Answer? {
    switch method {
    case PairingList.name: .success(PairingList.Result(bonds: bonds))
    case PeripheralConnect.name:
      .success(
        PeripheralConnect.Result(
          peripheral: Piano.peripheral, address: "\(Piano.address)", addressType: "random", adapter: "hci0", mtu: 23,
          attempts: 1))
    case PeripheralParameters.name, PeripheralSetParameters.name: .success(Piano.link)
    case GATTDiscover.name: .success(GATTServices(services: Piano.services()))
    case GATTRead.name: .success(GATTRead.Result(value: HexBytes(Array("Grand".utf8))))
    case GATTSubscribe.name, GATTWrite.name: .success(AttributeFound())
    default: nil
    }
  }

  private func settle() {
    repeat { clock.advance(by: .zero) } while daemon.deliver()
  }

  private func notify(_ octets: [UInt8]) throws {
    let session = try #require(daemon.sessions.last)
    try session.notify(
      GATTValue.self, GATTValue.Params(peripheral: Piano.peripheral, handle: Piano.handle, value: HexBytes(octets)))
    settle()
  }

  private func file() throws -> ScriptedSequencer.File { try #require(sequencer.files.first) }

  @Test("A bonded device has a port with its name, on a link with a short interval")
  func opens() throws {
    #expect(try file().name == "Grand")
    #expect(condition == .ok("1 of 1 MIDI devices are connected"))
    let call = try #require(calls.first { $0.method == PeripheralSetParameters.name })
    let wish = try call.message.params(PeripheralSetParameters.Params.self).parameters
    #expect(wish?.minimumInterval == 0.0075 && wish?.maximumInterval == 0.015)
    #expect(log == [] && memory.devices == [Piano.address: true])
  }

  @Test("A regular rhythm that arrives in groups is passed on as it was played")
  func jitter() throws {
    let file = try file()
    // Notes each 37 ms; a connection event each 11.25 ms carries those that were played before it.
    var played: [Double] = []
    var next = 0
    for event in 1..<900 {
      let now = Double(event) * 11.25
      clock.advance(by: .microseconds(11_250))
      var packet: [UInt8] = []
      while Double(next) <= now {
        let stamp = UInt16(next) % MIDIEvent.timestamps
        if packet.isEmpty { packet = [0x80 | UInt8(stamp >> 7)] }
        packet += [0x80 | UInt8(stamp & 0x7F), 0x90, 60, 100]
        played.append(Double(next))
        next += 37
      }
      if !packet.isEmpty { try notify(packet) }
    }
    clock.advance(by: .seconds(1))
    try #require(file.messages.count == played.count)
    let latencies = zip(file.messages, played).map { $0.time - $1 }.dropFirst(50)
    let jitter = (latencies.max() ?? 99) - (latencies.min() ?? 0)
    #expect(jitter < 1, "\(jitter) ms")
    #expect((latencies.max() ?? 99) < 2 * 11.25)
  }

  @Test("A note is not held for longer than the interval")
  func latency() throws {
    let before = Double(clock.now.nanoseconds) / 1e6
    try notify([0x80, 0x85, 0x90, 60, 100])
    #expect(try file().messages.isEmpty)
    clock.advance(by: .microseconds(11_250))
    #expect(try file().messages.map(\.time) == [before + 11.25])
  }

  @Test("Programs play on the device, with the time in milliseconds")
  func programs() throws {
    clock.advance(by: .seconds(9))
    let stamp = UInt16(clock.now.nanoseconds / 1_000_000 % 8192)
    let chord = [60, 64, 67].compactMap { SequencerEvent.octets(of: .short([0x90, $0, 100]), from: 0) }
    try file().received(.events(chord.flatMap { $0 }))
    settle()
    let write = try #require(calls.last { $0.method == GATTWrite.name })
    let params = try write.message.params(GATTWrite.Params.self)
    #expect(
      params.value.octets
        == [0x80 | UInt8(stamp >> 7), 0x80 | UInt8(stamp & 0x7F), 0x90, 60, 100, 64, 100, 67, 100])
    #expect(params.response == false && params.attribute.handle == Piano.handle)
  }

  @Test("The port outlasts a lost link, and bled; its notes are released behind those that wait")
  func linkLost() throws {
    let file = try file()
    try notify([0x80, 0x85, 0x90, 60, 100])
    try #require(daemon.sessions.last).end()
    settle()
    #expect(file.messages.map(\.message) == [.short([0x90, 60, 100]), .short([0x80, 60, 64])])
    clock.advance(by: .seconds(1))
    settle()
    #expect(!file.isClosed && sequencer.files.count == 1)
    #expect(condition == .ok("1 of 1 MIDI devices are connected"))
    bonds = []
    try #require(daemon.sessions.last).notify(
      PairingForgotten.self,
      PairingForgotten.Params(
        peripheral: Piano.peripheral, address: "\(Piano.address)", addressType: "random", adapterAddress: Piano.adapter)
    )
    settle()
    #expect(file.isClosed)
  }

  @Test("Notes are released when the gateway ends")
  func ends() throws {
    let file = try file()
    try notify([0x80, 0x85, 0x90, 60, 100])
    gateway.close()
    #expect(file.messages.map(\.message) == [.short([0x90, 60, 100]), .short([0x80, 60, 64])])
    #expect(file.isClosed)
  }

  @Test("Events that programs lose are said once")
  func losses() throws {
    let file = try file()
    file.isFull = true
    for _ in 0..<3 {
      try notify([0x80, 0x85, 0x90, 60, 100])
      clock.advance(by: .seconds(1))
    }
    file.received(.lost)
    #expect(log.count == 2 && log.allSatisfy { $0.contains("some are lost") })
  }
}

@Suite("bled-midi without a sequencer")
struct NoSequencerTests {
  @Test("The remedy is said")
  func remedy() {
    let clock = VirtualScheduler()
    let sequencer = ScriptedSequencer(clock)
    sequencer.refusal = SequencerFailure("/dev/snd/seq cannot be opened: modprobe snd-seq")
    let ports = SequencerPorts(sequencer, clock)
    guard
      case .refused(let text, .refused) = ports.perform(
        .open(name: "Piano", delay: .zero), of: Piano.address, { _ in })
    else {
      Issue.record("it is opened")
      return
    }
    #expect(text.contains("modprobe snd-seq"))
  }
}
