import Adapter
import Bluetooth

/// The subevents of a train on the simulated air (Core 5.4, Vol 6, Part B, 4.4.2.12.2): the data of its advertiser, and
/// the responses of listeners.
///
/// Its events lie on a grid from its start. Without data to send it sets no alarm.
final class SimulatedSubevents {
  typealias Listen = (SubeventPlace, [UInt8]) -> Void

  /// The slots of a sent subevent, and the responses in them.
  private struct Window {
    let slots: Range<Int>
    var responses: [SubeventResponses.Response] = []
  }

  /// Data waiting for the next event.
  private struct Waiting {
    let data: SubeventData
    let done: (BluetoothError?) -> Void
  }

  let slots: ResponseSlots
  /// Called with the responses to a subevent.
  var onResponses: ((SubeventResponses) -> Void)?
  private let interval: Duration
  private let scheduler: any Scheduler
  private let beginning: Instant
  private var waiting: [UInt8: Waiting] = [:]
  private var alarm: (any ScheduledWork)?
  private var windows: [SubeventPlace: Window] = [:]
  private var listeners: [ObjectIdentifier: Listen] = [:]
  private var hasEnded = false

  init(_ slots: ResponseSlots, interval: Duration, scheduler: any Scheduler) {
    self.slots = slots
    self.interval = interval
    self.scheduler = scheduler
    beginning = scheduler.now
  }

  /// Their times, as reported to listeners.
  var description: TrainSubevents {
    TrainSubevents(
      count: slots.subevents, interval: slots.subeventInterval, slotDelay: slots.delay, slotSpacing: slots.spacing)
  }

  // MARK: - Advertiser

  /// Sends data in the next event.
  func send(_ data: SubeventData, _ done: @escaping (BluetoothError?) -> Void) {
    if let former = waiting.updateValue(Waiting(data: data, done: done), forKey: data.subevent) {
      answer(former.done, GAPError.cancelled.error("newer data for that subevent is sent in its place"))
    }
    guard alarm == nil else { return }
    let event = currentEvent + 1
    alarm = scheduler.schedule(at: start(of: event)) { [weak self] in self?.begin(event) }
  }

  /// The train is off the air.
  func end() {
    hasEnded = true
    alarm?.cancel()
    for next in waiting.values {
      answer(next.done, BledError.unknownHandle.error("the train is not sent any more"))
    }
    waiting = [:]
    listeners = [:]
  }

  private func begin(_ event: Int) {
    alarm = nil
    let taken = waiting.values.sorted { $0.data.subevent < $1.data.subevent }
    waiting = [:]
    for next in taken {
      let place = SubeventPlace(event: UInt16(truncatingIfNeeded: event), subevent: next.data.subevent)
      _ = scheduler.schedule(at: start(of: place.subevent, in: event)) { [weak self] in
        self?.transmit(next.data, place)
      }
      next.done(nil)
    }
  }

  private func transmit(_ data: SubeventData, _ place: SubeventPlace) {
    guard !hasEnded else { return }
    windows[place] = Window(slots: Int(data.firstSlot)..<Int(data.firstSlot) + Int(data.slots))
    scheduler.schedule(after: slots.delay + slots.spacing * slots.count) { [weak self] in self?.close(place) }
    for listen in listeners.values { listen(place, data.data) }
  }

  private func close(_ place: SubeventPlace) {
    guard !hasEnded, let responses = windows.removeValue(forKey: place)?.responses, !responses.isEmpty else { return }
    onResponses?(SubeventResponses(subevent: place.subevent, wasSent: true, responses: responses))
  }

  // MARK: - Listeners

  /// Sets a listener for each packet; nil removes it.
  func setListener(_ listener: AnyObject, _ listen: Listen?) { listeners[ObjectIdentifier(listener)] = listen }

  /// A listener sends a response in its slot, if there is time left.
  func respond(_ response: TrainResponse, rssi: Int?) -> BluetoothError? {
    guard Int(response.slot) < slots.count, Int(response.subevent) < slots.subevents else {
      return HCIReason.invalidHCICommandParameters.error
    }
    let current = currentEvent
    let request = current - Int(UInt16(truncatingIfNeeded: current) &- response.request.event)
    let event = request + (response.subevent < response.request.subevent ? 1 : 0)
    let time = start(of: response.subevent, in: event).advanced(by: slots.delay + slots.spacing * Int(response.slot))
    guard time > scheduler.now else { return HCIReason.packetTooLate.error }
    let place = SubeventPlace(event: UInt16(truncatingIfNeeded: event), subevent: response.subevent)
    _ = scheduler.schedule(at: time) { [weak self] in self?.heard(response, place, rssi) }
    return nil
  }

  private func heard(_ response: TrainResponse, _ place: SubeventPlace, _ rssi: Int?) {
    guard windows[place]?.slots.contains(Int(response.slot)) == true else { return }
    windows[place]?.responses.append(.init(slot: response.slot, data: response.data, rssi: rssi))
  }

  // MARK: - Times

  private var currentEvent: Int {
    let passed = beginning.duration(to: scheduler.now).wholeNanoseconds
    return Int(passed / max(1, interval.wholeNanoseconds))
  }

  private func start(of event: Int) -> Instant { beginning.advanced(by: interval * event) }

  private func start(of subevent: UInt8, in event: Int) -> Instant {
    start(of: event).advanced(by: slots.subeventInterval * Int(subevent))
  }

  private func answer(_ done: @escaping (BluetoothError?) -> Void, _ error: BluetoothError) {
    scheduler.schedule(after: .zero) { done(error) }
  }
}
