import Adapter
import BledRPC
import Bluetooth
import Capture
import EventLoop

/// The recordings of all sessions.
final class CaptureBroker {
  /// The loop that watches the pipes; nil where there is none, and no recordings.
  var loop: EventLoop?
  /// Called when there is a first recording, and when there is none any more.
  var onActive: ((Bool) -> Void)?
  private let adapters: AdapterRegistry
  private let scheduler: any Scheduler
  private var recordings: [Recording] = []
  /// How many packets are missing from recordings that have ended.
  private var lostBefore = 0
  private var lastNumber = 0

  init(adapters: AdapterRegistry, scheduler: any Scheduler) {
    self.adapters = adapters
    self.scheduler = scheduler
  }

  func start(_ params: CaptureStart.Params, for session: Session, _ reply: Reply<CaptureStart.Result>) throws {
    let format = try CaptureFormat(ofClient: params.format)
    let showsKeys = params.keys == true
    if showsKeys, !session.rules.permissions(of: session).contains(.sessions) {
      throw session.rules.policy.refusal(of: .sessions, to: session.credentials)
    }
    let slots = try params.adapter.map { [try adapters.find($0)] } ?? adapters.slots
    guard let loop else { throw GAPError.notSupported.error("this daemon passes no descriptors") }
    try session.rules.admit(
      .captures, of: session, own: recordings.count { $0.session == session },
      all: recordings.count { $0.session.user == session.user })
    try session.rules.admit(
      .captures, total: recordings.count, own: recordings.count { $0.session.user == session.user })
    try session.admitDescriptor()
    lastNumber += 1
    let number = lastNumber
    let (pipe, passed) = try CapturePipe.make(on: loop) { [weak self] in self?.end { $0.number == number } }
    let recording = Recording(
      number, of: session, in: format, showsKeys: showsKeys, coversAll: params.adapter == nil, pipe: pipe,
      scheduler: scheduler)
    do throws(BluetoothError) {
      for slot in slots { try recording.add(slot.adapter, number: self.number(of: slot)) }
    } catch {
      recording.close()
      throw error
    }
    recordings.append(recording)
    if recordings.count == 1 { onActive?(true) }
    recording.note("\(session.label) records \(params.adapter == nil ? "all adapters" : slots[0].id)")
    reply.succeed(.init(capture: number), with: passed)
  }

  func stop(_ params: CaptureStop.Params, for session: Session) throws -> CaptureStop.Result {
    guard let recording = recordings.first(where: { $0.number == params.capture && $0.session == session }) else {
      throw BledError.unknownHandle.error("this session has no recording \(params.capture)")
    }
    end { $0 === recording }
    return .init(packets: recording.packets, lost: recording.lost)
  }

  /// A session has ended, or its program is gone.
  func ended(_ session: Session) { end { $0.session == session } }

  /// An adapter was added.
  func added(_ slot: AdapterSlot) {
    for recording in recordings where recording.coversAll {
      do throws(BluetoothError) { try recording.add(slot.adapter, number: number(of: slot)) } catch {
        recording.note("adapter \(slot.id) is not recorded: \(error.message)")
      }
    }
  }

  /// A session makes a call.
  func called(_ method: String, _ message: RPCMessage, by session: Session) {
    guard !recordings.isEmpty else { return }
    let text = "\(session.label): \(method)\(message.concerned(CallSubject.self)?.text ?? "")"
    for recording in recordings { recording.note(text) }
  }

  /// How many there are.
  var count: Int { recordings.count }
  /// How many packets are missing from all that there were.
  var lostPackets: Int { recordings.reduce(lostBefore) { $0 + $1.lost } }

  private func end(where isMeant: (Recording) -> Bool) {
    let ended = recordings.filter(isMeant)
    guard !ended.isEmpty else { return }
    recordings.removeAll(where: isMeant)
    for recording in ended {
      lostBefore += recording.lost
      recording.close()
    }
    if recordings.isEmpty { onActive?(false) }
  }

  /// The number of an adapter in recordings: the kernel's where it has one, otherwise one from the last on that btmon
  /// shows.
  private func number(of slot: AdapterSlot) -> UInt16 {
    if let number = Self.kernelNumber(of: slot) { return number }
    let others = adapters.slots.filter { Self.kernelNumber(of: $0) == nil }
    return Self.last - UInt16(clamping: others.firstIndex(of: slot) ?? 0) % Self.last
  }

  private static func kernelNumber(of slot: AdapterSlot) -> UInt16? {
    slot.id.utf8.starts(with: "hci".utf8) ? UInt16(slot.id.dropFirst(3)) : nil
  }

  private static let last: UInt16 = 15
}

extension CaptureFormat {
  /// Reads the word of a client.
  /// - Throws: `BledError.invalidParameter` for any other.
  init(ofClient word: String?) throws(BluetoothError) {
    guard let word else {
      self = .pcapng
      return
    }
    guard let format = CaptureFormat(word: word) else {
      throw BledError.invalidParameter.error("\"\(word.excerpt)\" is no format: give \"pcapng\" or \"btsnoop\"")
    }
    self = format
  }
}

/// What a call is about, for notes.
struct CallSubject: RPCPayload {
  var peripheral: String?
  var address: String?
  var service: BluetoothUUID?
  var characteristic: BluetoothUUID?
  var handle: UInt16?

  var text: String {
    [
      (peripheral ?? address).map { " \($0.excerpt)" }, service.map { " \($0)" }, characteristic.map { " \($0)" },
      handle.map { " handle \($0.handleText)" },
    ].compactMap { $0 }.joined()
  }
}

extension Session {
  /// Its number and who it is, for notes.
  var label: String {
    let program = name.isEmpty ? credentials?.program ?? "" : name
    let names = [program, user.map { "user \($0)" } ?? ""].filter { !$0.isEmpty }
    return names.isEmpty ? "session \(id)" : "session \(id) (\(names.joined(separator: ", ")))"
  }
}

extension Daemon {
  /// Lets programs record packets.
  func passCaptures(on loop: EventLoop) { captures.loop = loop }
}

extension Router {
  func serveCaptures(_ captures: CaptureBroker) {
    serve(CaptureStart.self) { [unowned captures] params, session, reply in
      try captures.start(params, for: session, reply)
    }
    answer(CaptureStop.self) { [unowned captures] params, session in try captures.stop(params, for: session) }
    captures.onActive = { [unowned self, unowned captures] isActive in
      onCall = isActive ? { [unowned captures] in captures.called($0, $1, by: $2) } : nil
    }
  }
}
