import Adapter
import Bluetooth
import HCI

/// The subevents of a train: their data, and the responses in their slots (Core 5.4, Vol 6, Part B, 4.4.2.12.2).
///
/// | Subevent  | Input                                  | Then                                                   |
/// |-----------|----------------------------------------|--------------------------------------------------------|
/// | any       | some time before the event             | the host is asked for its data                         |
/// | requested | data                                   | sent at its time; followers that chose it receive them |
/// | sent      | a response in a slot that was left     | kept; two in one slot are lost                         |
/// | sent      | the end of its slots                   | the responses are reported to the host                 |
/// | requested | its time without data                  | nothing is received of it                              |
final class SubeventSchedule {
  private struct Place: Hashable {
    let event: Int
    let subevent: UInt8
  }

  private enum Slot {
    case response([UInt8], rssi: Int8)
    case collision
  }

  private struct Window {
    let slots: Range<Int>
    var content: [UInt8: Slot] = [:]
  }

  private unowned let train: Train
  /// The event of the last question to the host.
  private var requested: Int?
  private var waiting: [Place: LESetPeriodicAdvertisingSubeventData.Subevent] = [:]
  private var windows: [Place: Window] = [:]

  /// The longest time before an event at which the host is asked; a fourth of the interval, if that is shorter.
  private static let lead = Duration.milliseconds(250)
  /// The room of an event for responses, and the octets of each beside its data (Vol 4, Part E, 7.7.65.37).
  private static let room = 250
  private static let fixed = 6

  init(of train: Train) { self.train = train }

  private var scheduler: any Scheduler { train.air.scheduler }

  // MARK: - The sender

  /// Asks the host for the data of an event, some time before it.
  func request(for event: Int) {
    let time = train.start(of: event).advanced(by: .zero - min(Self.lead, train.interval / 4))
    _ = scheduler.schedule(at: time) { [weak self] in self?.ask(event) }
  }

  private func ask(_ event: Int) {
    guard !train.isOver else { return }
    requested = event
    train.sender?.tell(
      .lePeriodicAdvertisingSubeventDataRequest(
        LEPeriodicAdvertisingSubeventDataRequest {
          ($0.advertisingHandle, $0.count) = (train.handle, train.information.subevents.count)
        }))
  }

  /// The host gives data (Vol 4, Part E, 7.8.125).
  func send(_ subevents: [LESetPeriodicAdvertisingSubeventData.Subevent]) throws(Refusal) {
    let count = train.information.subevents.count
    for next in subevents {
      guard next.number < count, Int(next.firstSlot) + Int(next.slots) <= train.slots else {
        throw Refusal(.invalidHCICommandParameters)
      }
    }
    guard let requested else { throw Refusal(.packetTooEarly) }
    for next in subevents where train.start(of: next.number, in: requested) <= scheduler.now {
      throw Refusal(.packetTooLate)
    }
    for next in subevents {
      let place = Place(event: requested, subevent: next.number)
      guard waiting.updateValue(next, forKey: place) == nil else { continue }
      _ = scheduler.schedule(at: train.start(of: next.number, in: requested)) { [weak self] in self?.transmit(place) }
    }
  }

  private func transmit(_ place: Place) {
    // A host that ends the train at a report releases it.
    let train = train
    guard !train.isOver, let data = waiting.removeValue(forKey: place) else { return }
    if data.slots > 0 {
      windows[place] = Window(slots: Int(data.firstSlot)..<Int(data.firstSlot) + Int(data.slots))
      _ = scheduler.schedule(at: time(of: train.slots, in: place)) { [weak self] in self?.close(place) }
    }
    for sync in train.followers where sync.chosen.contains(place.subevent) {
      guard let rssi = train.reception(by: sync) else { continue }
      sync.report(data.data, rssi, event: place.event, subevent: place.subevent)
    }
  }

  private func close(_ place: Place) {
    let train = train
    guard let window = windows.removeValue(forKey: place), !train.isOver else { return }
    var report = LEPeriodicAdvertisingResponseReport {
      ($0.advertisingHandle, $0.number) = (train.handle, place.subevent)
    }
    var left = Self.room
    for (number, slot) in window.content.sorted(by: { $0.key < $1.key }) {
      guard case .response(let data, let rssi) = slot else { continue }
      for response in Self.pieces(of: data, in: number, rssi) {
        if left < Self.fixed + response.data.count {
          train.sender?.tell(.lePeriodicAdvertisingResponseReport(report))
          (report.responses, left) = ([], Self.room)
        }
        report.responses.append(response)
        left -= Self.fixed + response.data.count
      }
    }
    if !report.responses.isEmpty { train.sender?.tell(.lePeriodicAdvertisingResponseReport(report)) }
  }

  /// A response of more octets than an event has room for continues in a second one (Data_Status 1).
  private static func pieces(
    of data: [UInt8], in slot: UInt8, _ rssi: Int8
  ) -> [LEPeriodicAdvertisingResponseReport.Response] {
    let first = data.prefix(room - fixed), rest = data.dropFirst(room - fixed)
    return [(first, rest.isEmpty ? 0 : 1), (rest, UInt8(0))].prefix(rest.isEmpty ? 1 : 2).map { piece, status in
      .init { ($0.slot, $0.rssi, $0.dataStatus, $0.data) = (slot, rssi, status, Array(piece)) }
    }
  }

  // MARK: - A follower

  private func time(of slot: Int, in place: Place) -> Instant {
    let subevents = train.information.subevents
    let delay = TimeUnits.connectionUnits(UInt16(subevents.slotDelay))
    return train.start(of: place.subevent, in: place.event)
      .advanced(by: delay + TimeUnits.rateUnits(UInt16(subevents.slotSpacing)) * slot)
  }

  /// A follower responds (Vol 4, Part E, 7.8.126).
  func respond(
    _ response: LESetPeriodicAdvertisingResponseData, from follower: VirtualController
  ) throws(Refusal) {
    let subevents = train.information.subevents
    guard Int(response.slot) < train.slots, max(response.requestSubevent, response.responseSubevent) < subevents.count
    else { throw Refusal(.invalidHCICommandParameters) }
    guard AirTime.microseconds(response.data.count, on: train.information.phy) <= Int(subevents.slotSpacing) * 125
    else { throw Refusal(.packetTooLong) }
    // The request was in one of the last events.
    let current = train.event
    let request = current - Int(UInt16(truncatingIfNeeded: current) &- response.requestEvent)
    let event = request + (response.responseSubevent < response.requestSubevent ? 1 : 0)
    let place = Place(event: event, subevent: response.responseSubevent)
    let time = time(of: Int(response.slot), in: place)
    guard time > scheduler.now else { throw Refusal(.packetTooLate) }
    _ = scheduler.schedule(at: time) { [weak self, weak follower] in
      if let follower { self?.receive(response, at: place, from: follower) }
    }
  }

  private func receive(
    _ response: LESetPeriodicAdvertisingResponseData, at place: Place, from follower: VirtualController
  ) {
    guard let sender = train.sender, !train.isOver, windows[place]?.slots.contains(Int(response.slot)) == true,
      train.air.carries(from: follower, to: sender)
    else { return }
    let isTaken = windows[place]?.content[response.slot] != nil
    windows[place]?.content[response.slot] =
      isTaken ? .collision : .response(response.data, rssi: Int8(clamping: follower.linkSignal()))
  }
}
