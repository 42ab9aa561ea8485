import BledClient
import BledRPC
import Bluetooth
import ScenarioRules

/// The values of a served file, by the handles that the daemon assigned, and their changes by the rules of a scenario.
/// Times are counted from the beginning of the service.
///
/// | Input                                  | Effect                                                              |
/// |----------------------------------------|---------------------------------------------------------------------|
/// | a new link, a new device               | its recordings begin                                                |
/// | a link ended                           | its recordings are forgotten                                        |
/// | a device subscribes                    | the first value of the recording is the next one for it             |
/// | a request                              | the delay of the answer, and its error                              |
/// | a read                                 | the value at that time                                              |
/// | a write                                | all of its values are stored, or none; others may adopt them        |
/// | a value is due to a subscriber         | that value; in a recording the next one follows                     |
struct ServedValues {
  /// A characteristic with a value stored here.
  struct Value {
    let uuid: BluetoothUUID
    let tells: Bool
    let changes: ServiceFile.Changes?
    fileprivate let rule: ValueRule?
    fileprivate let notifyEvery: Duration?
    fileprivate(set) var octets: [UInt8]
    fileprivate var number: MovingNumber?
  }

  /// A characteristic for one device.
  struct Place: Hashable {
    let central: String
    let handle: UInt16
  }

  /// The answer to a request.
  struct Answer {
    /// The time of the answer.
    var time: Duration
    /// The ATT error code; nil for the usual answer.
    var error: UInt8?
  }

  /// Devices with private addresses are always new ones: beyond this number all are forgotten.
  private static let maximumDevices = 256
  private(set) var values: [UInt16: Value] = [:]
  private let responseDelay: TimeSpan
  /// True if some answers are not given at once: later ones of the link wait for them.
  private let areAnswersLate: Bool
  private var faults: AnswerFaults
  private let seed: UInt64
  private var delays: SeededGenerator
  /// The times of the links' establishment, by device.
  private var links: [String: Duration] = [:]
  private var replays: [Place: RecordedReplay] = [:]
  /// The time of the last late answer, by device: no later packet overtakes it.
  private var lateAnswers: [String: Duration] = [:]

  init(_ behaviour: ServiceFile.Behaviour) {
    responseDelay = behaviour.responseDelay
    faults = AnswerFaults(behaviour.answers)
    let spans = [behaviour.responseDelay] + behaviour.answers.map(\.delay)
    areAnswersLate = spans.contains { $0.range.upperBound > .zero }
    seed = behaviour.seed ?? .random(in: .min ... .max)
    // Values have the streams below.
    delays = SeededGenerator(seed: seed, stream: 1 << 16)
  }

  /// Adds the characteristics of a service as it was published.
  mutating func add(_ service: ServiceFile.Service, as published: ServiceDescription) {
    for (characteristic, description) in zip(service.characteristics, published.characteristics ?? []) {
      let tells = characteristic.properties.contains(.notify) || characteristic.properties.contains(.indicate)
      var value = Value(
        uuid: characteristic.uuid, tells: tells, changes: characteristic.changes, rule: characteristic.rule,
        notifyEvery: characteristic.notifyEvery, octets: characteristic.octets)
      if case .number(let rule) = characteristic.rule {
        value.number = MovingNumber(rule, generator: SeededGenerator(seed: seed, stream: UInt64(values.count)))
      }
      values[description.handle] = value
    }
  }

  /// A value has changed by itself.
  mutating func set(_ handle: UInt16, _ octets: [UInt8]) { values[handle]?.octets = octets }

  /// True if a value or an answer depends on its link.
  var dependsOnLinks: Bool { areAnswersLate || values.values.contains { $0.recording != nil } }

  // MARK: Links

  mutating func linkIsUp(_ central: String, at time: Duration) {
    linkEnded(central)
    if links.count >= Self.maximumDevices { (links, replays, lateAnswers) = ([:], [:], [:]) }
    links[central] = time
  }

  mutating func linkEnded(_ central: String) {
    (links[central], lateAnswers[central]) = (nil, nil)
    replays = replays.filter { $0.key.central != central }
  }

  /// The recording of a characteristic on the link of a device; nil if it has none.
  private mutating func replay(_ place: Place, at time: Duration) -> RecordedReplay? {
    guard let recording = values[place.handle]?.recording else { return nil }
    if links[place.central] == nil { linkIsUp(place.central, at: time) }
    if let known = replays[place] { return known }
    var new = RecordedReplay(recording)
    new.linkIsUp(at: links[place.central] ?? time)
    return new
  }

  // MARK: Requests

  /// A request of a device.
  mutating func answer(
    _ request: AnswerFault.Request, of handle: UInt16, by central: String, at time: Duration
  ) -> Answer {
    var answer = Answer(time: time + responseDelay.draw(&delays))
    if let uuid = values[handle]?.uuid, let fault = faults.answer(request, of: uuid, &delays) {
      answer.time += fault.delay
      answer.error = fault.error
    }
    answer.time = max(answer.time, lateAnswers[central] ?? .zero)
    if answer.time > time {
      // Without the permission to see links, none ends.
      if lateAnswers[central] == nil, lateAnswers.count >= Self.maximumDevices { lateAnswers = [:] }
      lateAnswers[central] = answer.time
    } else {
      lateAnswers[central] = nil
    }
    return answer
  }

  /// The value that a device reads; nil if there is none under this handle.
  mutating func read(_ handle: UInt16, by central: String, at time: Duration) -> [UInt8]? {
    guard let stored = values[handle]?.octets else { return nil }
    if let moved = values[handle]?.number?.value(at: time, in: stored) { return moved }
    return replay(Place(central: central, handle: handle), at: time)?.value(at: time) ?? stored
  }

  /// Stores the values that a device wrote, all or none.
  /// - Returns: the characteristics with a new value for subscribers.
  /// - Throws: an `ATTRefusal` as an error if the write is not valid.
  mutating func write(_ writes: [ServerWrite.Write]) throws(BluetoothError) -> [UInt16] {
    var changed = values
    for write in writes {
      guard let old = changed[write.handle]?.octets else {
        throw ATTRefusal.writeNotPermitted.error("there is no value \(write.handle.handleText) to write")
      }
      guard write.offset >= 0, write.offset <= old.count else {
        throw ATTRefusal.invalidOffset.error("the value has only \(old.count) octets")
      }
      let octets = old[..<write.offset] + write.value.octets
      guard octets.count <= ValueDescription.longest else {
        throw ATTRefusal.invalidAttributeValueLength.error("a value has at most 512 octets")
      }
      changed[write.handle]?.octets = Array(octets)
    }
    values = changed
    var adopting: [UInt16] = []
    for source in writes.map(\.handle) {
      guard let written = values[source] else { continue }
      for (handle, value) in values.sorted(by: { $0.key < $1.key }) where !adopting.contains(handle) {
        guard case .echo(let uuid) = value.rule, uuid.map({ $0 == written.uuid }) ?? (handle == source)
        else { continue }
        values[handle]?.octets = written.octets
        adopting.append(handle)
      }
    }
    return adopting
  }

  // MARK: Subscribers

  mutating func subscribed(_ place: Place, at time: Duration) {
    guard var replay = replay(place, at: time) else { return }
    replay.subscribed()
    replays[place] = replay
  }

  /// The time until the next value is due to a subscriber; nil if none becomes due by itself.
  mutating func delay(_ place: Place, at time: Duration) -> Duration? {
    replay(place, at: time)?.delay ?? values[place.handle]?.notifyEvery
  }

  /// The value that is due to a subscriber.
  mutating func due(_ place: Place, at time: Duration) -> [UInt8]? {
    guard var replay = replay(place, at: time), let value = replay.send() else {
      return read(place.handle, by: place.central, at: time)
    }
    replays[place] = replay
    return value
  }
}

extension ServedValues.Value {
  fileprivate var recording: RecordedValues? {
    guard case .recording(let values) = rule else { return nil }
    return values
  }
}
