import Adapter
import BledRPC
import Bluetooth
import Capture

/// A recording of a session: packets of some adapters, in the order of their reports, and notes.
///
/// | Input                    | Effect                                                                               |
/// |--------------------------|--------------------------------------------------------------------------------------|
/// | a packet, a note         | written, without keys; without room in the pipe, lost                                |
/// | one after lost ones      | lost until there is ample room, so that the gap is one; then a note says how many    |
/// | packets are lost         | a second later the number is reported to the session, unless that is pending already |
/// | an adapter's packets end | a note says so; without any other adapter the pipe ends, too, and nothing is written |
/// | `close`                  | the pipe ends behind the written packets                                             |
final class Recording {
  let number: Int
  let session: Session
  /// True if adapters added later are recorded, too.
  let coversAll: Bool
  private let scheduler: any Scheduler
  private let pipe: CapturePipe
  private var writer: CaptureWriter
  private let showsKeys: Bool
  private var blanking: [UInt16: KeyBlanking] = [:]
  private var taps: [any PacketTap] = []
  /// Adapters that still report packets.
  private var sources = 0
  /// The reason for its end before `close`; nil if it has not ended.
  private(set) var problem: BluetoothError?
  /// The end of the last loss of packets, in microseconds since the epoch.
  private var doubt: Int64 = 0
  /// The adapters, by number, with a packet since the last loss.
  private var afterLoss: Set<UInt16> = []
  private(set) var packets = 0
  private(set) var lost = 0
  /// Packets lost by each tap.
  private var lostOf: [Int] = []
  /// Packets missing at the current position.
  private var gap = 0
  /// Lost packets not yet reported to the session.
  private var untold = 0
  private var alarm: (any ScheduledWork)?

  init(
    _ number: Int, of session: Session, in format: CaptureFormat, showsKeys: Bool, coversAll: Bool, pipe: CapturePipe,
    scheduler: any Scheduler
  ) {
    self.number = number
    self.session = session
    self.coversAll = coversAll
    self.showsKeys = showsKeys
    self.pipe = pipe
    self.scheduler = scheduler
    writer = CaptureWriter(format)
    // The pipe is empty.
    _ = pipe.write(writer.start)
  }

  /// Records an adapter from now on.
  /// - Parameter number: gives the controller's number from the kernel's.
  func add(_ adapter: any Adapter, number: @escaping (UInt16?) -> UInt16) throws(BluetoothError) {
    guard problem == nil else { return }
    let tap = lostOf.count
    lostOf.append(0)
    taps.append(
      try adapter.tap { [weak self, unowned adapter] event in
        guard let self, problem == nil else { return }
        let name = adapter.information.id
        switch event {
        case .packet(let packet, let controller):
          record(packet, of: number(controller), named: controller.map { "hci\($0)" } ?? name)
        case .lost(let count):
          doubt = now
          afterLoss = []
          lost(count, of: tap)
        case .ended(let error): lost(name, error)
        }
      })
    sources += 1
  }

  /// Records a note, after the packets received by now.
  func annotate(_ text: String) {
    guard problem == nil else { return }
    for tap in taps { tap.catchUp() }
    // That may have ended one of them.
    guard problem == nil else { return }
    let annotation = Annotation(text)
    write(annotation.packet, of: CaptureRecord.noAdapter, named: "bled", comment: annotation.text)
  }

  /// Ends it.
  func close() {
    alarm?.cancel()
    for tap in taps { tap.close() }
    taps = []
    pipe.close()
  }

  /// An adapter has stopped reporting packets.
  private func lost(_ adapter: String, _ error: BluetoothError) {
    sources -= 1
    annotate("adapter \(adapter) is no longer recorded: \(error.message)")
    guard sources == 0 else { return }
    problem = error
    pipe.close()
  }

  private func record(_ packet: MonitorPacket, of adapter: UInt16, named name: String) {
    // A piece may continue a packet whose beginning was lost: the blanking starts afresh for packets that may precede
    // the gap, and for the first packet after the loss.
    let mayPrecedeGap = packet.time.map { $0 <= doubt } ?? false
    if mayPrecedeGap || afterLoss.insert(adapter).inserted { blanking[adapter] = nil }
    write(showsKeys ? packet : blanking[adapter, default: KeyBlanking()].blank(packet), of: adapter, named: name)
  }

  private func write(_ packet: MonitorPacket, of adapter: UInt16, named name: String, comment: String? = nil) {
    if gap > 0 {
      let annotation = Annotation("\(gap) packets are missing here: they were not read in time")
      guard pipe.hasAmpleRoom,
        put(annotation.packet, of: CaptureRecord.noAdapter, named: "bled", comment: annotation.text)
      else { return lose(1) }
    }
    if !put(packet, of: adapter, named: name, comment: comment) { lose(1) }
  }

  /// - Returns: false if there is no room.
  private func put(_ packet: MonitorPacket, of adapter: UInt16, named name: String, comment: String?) -> Bool {
    if let interface = writer.interface(of: adapter, name: name) {
      guard pipe.write(interface) else { return false }
      writer.wroteInterface(of: adapter)
    }
    let record = CaptureRecord(
      adapter: adapter, packet: packet, time: packet.time ?? now,
      lost: UInt32(clamping: lost), lostBefore: UInt32(clamping: gap), comment: comment)
    guard pipe.write(writer.piece(record)) else { return false }
    gap = 0
    packets += 1
    return true
  }

  /// The time of day in microseconds since the epoch.
  private var now: Int64 { Int64(scheduler.secondsSinceEpoch * 1_000_000) }

  /// Counts a loss reported by a tap. The kernel's taps receive from all controllers, and each reports the total loss:
  /// the largest counts.
  private func lost(_ count: Int, of tap: Int) {
    let known = lostOf.max() ?? 0
    lostOf[tap] += count
    if lostOf[tap] > known { lose(lostOf[tap] - known) }
  }

  private func lose(_ count: Int) {
    lost += count
    gap += count
    untold += count
    guard alarm == nil else { return }
    alarm = scheduler.schedule(after: .seconds(1)) { [weak self] in
      guard let self else { return }
      alarm = nil
      session.send(CaptureLost.self, .init(capture: number, packets: untold))
      untold = 0
    }
  }
}
