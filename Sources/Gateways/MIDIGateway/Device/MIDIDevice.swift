import BledRPC
import Bluetooth
import BondedDevices
import MIDI

/// A bonded device: the discovery of its MIDI service, and messages both ways. `DeviceLink` has the states of its link.
///
/// | State       | Input                     | Next        | Actions                                              |
/// |-------------|---------------------------|-------------|------------------------------------------------------|
/// | discovering | services without MIDI     | other       | disconnect                                           |
/// | discovering | services with MIDI        | open        | read the name; read, subscribe, request an interval  |
/// | open        | the name, or none         | open        | open the port                                        |
/// | open        | value                     | open        | the port plays its messages                          |
/// | open        | messages of programs      | open        | write packets, as many at once as `mostWrites`       |
/// | open        | values are lost           | open        | held notes are released                              |
/// | open        | a new discovery begins    | discovering | held notes are released; packets wait                |
/// | any         | the link ends             |             | held notes are released; the port stays              |
/// | any         | the keys are gone         |             | the port is closed                                   |
package struct MIDIDevice: BondedDevice {
  package typealias Call = DeviceRequest

  /// An event of the sequencer.
  package enum Event {
    /// Messages of programs, and their time in milliseconds modulo 8192.
    case messages([MIDIMessage], at: UInt16)
    /// The kernel has discarded messages of programs: more waited than it keeps.
    case lost
    /// A program has no room for messages of the device.
    case overrun
    /// The port cannot be opened.
    case refused
  }

  /// A request to the sequencer.
  package enum Output: Hashable {
    /// Opens the port, if there is none, with the delay of `setDelay`.
    case open(name: String, delay: Duration)
    /// How long messages are held that the link has not delayed.
    case setDelay(Duration)
    /// Passes messages on, at their times.
    case play([MIDIEvent])
    /// Passes messages on at once, behind all before.
    case release([MIDIMessage])
    /// False: messages of programs wait in the kernel.
    case setReading(Bool)
    case close
  }

  /// The connection intervals that are requested, in seconds: devices may ask for 15 ms at most (MIDI over LE 1.0).
  static let intervals = 0.0075...0.015
  /// The longest value of an attribute (Core 5.4, Vol 3, Part F, 3.2.9).
  private static let longestValue = 512
  /// The unanswered writes: further messages wait, and share packets.
  private static let mostWrites = 4

  package private(set) var link: DeviceLink<Call>
  /// The MIDI I/O characteristic; nil before the discovery.
  private var characteristic: MIDICharacteristic?
  private var isSubscribed = false
  private var hasPort = false
  private var delay = Duration.seconds(intervals.upperBound)
  private var decoder = MIDIPacketDecoder()
  private var held = HeldNotes()
  private var queue = MIDIPacketQueue()
  private var writes = 0
  private var isReading = true
  /// The remarks that were made; each is made once.
  private var said: Set<String> = []

  package init(_ bond: BondDescription) { link = DeviceLink(bond) }

  package var bond: BondDescription {
    get { link.bond }
    set { link.bond = newValue }
  }

  package var isWorking: Bool { link.isOpen && isSubscribed }

  package mutating func handle(_ input: Input) -> [Action] {
    switch input {
    case .paired: characteristic = nil
    case .forgotten: return perform(link.handle(input) ?? []) + close()
    default: break
    }
    let wasOpen = link.isOpen
    if let steps = link.handle(input) {
      // Messages are not read until it is open again: the ends of notes are missed.
      return (wasOpen && !link.isOpen ? release() : []) + perform(steps)
    }
    switch input {
    case .answer(let call, let result): return answered(call, result)
    case .parametersChanged(let interval, let mtu):
      queue.limit = min(mtu - 3, Self.longestValue)
      delay = .seconds(min(interval ?? .infinity, Self.intervals.upperBound))
      return hasPort ? [.output(.setDelay(delay))] : []
    case .subscriptionLost(let handle):
      guard link.isOpen else { return [] }
      return release() + say("its messages came faster than they could be read") + [.call(.subscribe(handle))]
    case .valuesLost: return release() + say("some of its messages were lost, as this machine was too slow")
    case .value(let handle, let octets): return value(octets, of: handle)
    default: return []
    }
  }

  package mutating func handle(_ event: Event) -> [Action] {
    switch event {
    case .messages(let messages, let timestamp):
      guard link.isOpen else { return [] }
      let refused = messages.count { !queue.append($0, at: timestamp) }
      return (refused == 0 ? [] : say("programs send octets that are no MIDI messages: they are left out")) + write()
    case .lost: return say("it does not accept messages as fast as programs send them: some are lost")
    case .overrun: return say("a program does not read its messages as fast as they arrive: some are lost")
    case .refused:
      hasPort = false
      return perform(link.giveUp())
    }
  }

  private mutating func say(_ text: String) -> [Action] { said.insert(text).inserted ? [.say(text)] : [] }

  // MARK: The link

  private mutating func perform(_ steps: [DeviceLink<Call>.Step]) -> [Action] {
    steps.flatMap { step -> [Action] in
      switch step {
      case .call(let call): [.call(call)]
      case .pause(let duration): [.pause(duration)]
      case .say(let text): [.say(text)]
      case .unlinked: unlink()
      }
    }
  }

  private mutating func unlink() -> [Action] {
    let limit = queue.limit
    (decoder, queue) = (MIDIPacketDecoder(), MIDIPacketQueue())
    queue.limit = limit
    (writes, isSubscribed) = (0, false)
    return release() + read(true)
  }

  private mutating func close() -> [Action] {
    guard hasPort else { return [] }
    hasPort = false
    return unlink() + [.output(.close)]
  }

  private mutating func answered(_ call: Call, _ result: Result<DeviceAnswer, BluetoothError>) -> [Action] {
    switch (call, result) {
    case (.discover, .success(.services(let services))): return discovered(MIDICharacteristic(services))
    case (.read(let handle), _) where handle == characteristic?.name:
      let octets: [UInt8] = if case .success(.value(let value, _)) = result { value } else { [] }
      return open(octets.isEmpty ? nil : String(decoding: octets, as: UTF8.self))
    case (.subscribe, .success):
      isSubscribed = true
      link.succeeded()
      return []
    case (.subscribe, .failure(let error)): return perform(link.retry("cannot be subscribed to", error))
    case (.write, _):
      writes -= 1
      guard case .failure(let error) = result else { return write() }
      return say("refuses messages: \(error.message)") + write()
    default: return []
    }
  }

  private mutating func discovered(_ found: MIDICharacteristic?) -> [Action] {
    guard link.isDiscovering else { return [] }
    guard let found else {
      guard characteristic == nil else { return perform(link.refuse("has no MIDI service any more")) }
      return close() + [.learned(hasService: false)] + perform(link.leave())
    }
    characteristic = found
    link.use()
    // A device may wait for the read of its characteristic before it sends (MIDI over LE 1.0).
    return [.learned(hasService: true)] + (found.name.map { [.call(.read($0))] } ?? open(nil)) + [
      .call(.read(found.handle)), .call(.subscribe(found.handle)), .call(.setInterval(Self.intervals)),
    ] + write()
  }

  private mutating func open(_ name: String?) -> [Action] {
    hasPort = true
    return [.output(.open(name: name ?? bond.name ?? bond.address, delay: delay))]
  }

  // MARK: Messages

  private mutating func value(_ octets: [UInt8], of handle: UInt16) -> [Action] {
    guard link.isOpen, handle == characteristic?.handle else { return [] }
    let packet = decoder.decode(octets)
    for event in packet.events { held.note(event.message) }
    let remarks = packet.ignored == 0 ? [] : say("sends octets that belong to no message: they are ignored")
    return remarks + (packet.events.isEmpty ? [] : [.output(.play(packet.events))])
  }

  private mutating func release() -> [Action] {
    let messages = held.release()
    return messages.isEmpty ? [] : [.output(.release(messages))]
  }

  /// Writes packets that wait, as many as the link accepts; during a discovery they wait for the new handle.
  private mutating func write() -> [Action] {
    guard link.isOpen, let characteristic else { return [] }
    var actions: [Action] = []
    while writes < Self.mostWrites, let packet = queue.next() {
      writes += 1
      actions.append(.call(.write(characteristic.handle, packet, response: characteristic.needsResponse)))
    }
    return actions + read(!queue.isFull)
  }

  private mutating func read(_ wanted: Bool) -> [Action] {
    defer { isReading = wanted }
    return wanted == isReading ? [] : [.output(.setReading(wanted))]
  }
}
