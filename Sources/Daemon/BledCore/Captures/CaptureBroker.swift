import Adapter
import BledRPC
import Bluetooth
import Capture
import EventLoop

/// The recordings of all sessions.
final class CaptureBroker {
  /// The loop that watches the pipes; nil where there is none, and no recordings.
  var loop: EventLoop?
  /// The notes of calls in all of them.
  let annotations = CallAnnotations()
  /// The known attributes of connected devices, for the beginning of a recording.
  var attributes: () -> [AttributeNote] = { [] }
  private let adapters: AdapterRegistry
  private let scheduler: any Scheduler
  private var recordings: [Recording] = []
  /// Packets missing from ended recordings.
  private var lostBefore = 0
  private var lastNumber = 0
  private var numbers = CaptureNumbers()

  init(adapters: AdapterRegistry, scheduler: any Scheduler) {
    self.adapters = adapters
    self.scheduler = scheduler
  }

  func start(_ params: CaptureStart.Params, for session: Session, _ reply: Reply<CaptureStart.Result>) throws {
    let format = params.format ?? .pcapng
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
      for slot in slots { try add(slot, to: recording) }
    } catch {
      recording.close()
      throw error
    }
    recordings.append(recording)
    annotations.write = { [unowned self] text in for recording in recordings { recording.annotate(text) } }
    recording.annotate("\(session.label) records \(params.adapter == nil ? "all adapters" : slots[0].id)")
    for note in attributes() { recording.annotate(note.text) }
    reply.succeed(.init(capture: number), with: passed)
  }

  func stop(_ params: CaptureStop.Params, for session: Session) throws -> CaptureStop.Result {
    guard let recording = recordings.first(where: { $0.number == params.capture && $0.session == session }) else {
      throw BledError.unknownHandle.error("this session has no recording \(params.capture)")
    }
    end { $0 === recording }
    if let problem = recording.problem { throw problem }
    return .init(packets: recording.packets, lost: recording.lost)
  }

  /// A session has ended, or its program has disconnected.
  func ended(_ session: Session) { end { $0.session == session } }

  /// An adapter was added.
  func added(_ slot: AdapterSlot) {
    for recording in recordings where recording.coversAll {
      do throws(BluetoothError) { try add(slot, to: recording) } catch {
        recording.annotate("adapter \(slot.id) is not recorded: \(error.message)")
      }
    }
  }

  var count: Int { recordings.count }
  /// Packets missing from all recordings so far.
  var lostPackets: Int { recordings.reduce(lostBefore) { $0 + $1.lost } }

  private func add(_ slot: AdapterSlot, to recording: Recording) throws(BluetoothError) {
    try recording.add(slot.adapter) { [unowned self] controller in numbers.number(of: controller, on: slot) }
  }

  private func end(where isMeant: (Recording) -> Bool) {
    let ended = recordings.filter(isMeant)
    guard !ended.isEmpty else { return }
    recordings.removeAll(where: isMeant)
    for recording in ended {
      lostBefore += recording.lost
      recording.close()
    }
    if recordings.isEmpty { annotations.write = nil }
  }
}

extension Router {
  func serveCaptures(_ captures: CaptureBroker) {
    serve(CaptureStart.self) { [unowned captures] params, session, reply in
      try captures.start(params, for: session, reply)
    }
    answer(CaptureStop.self) { [unowned captures] params, session in try captures.stop(params, for: session) }
  }
}
