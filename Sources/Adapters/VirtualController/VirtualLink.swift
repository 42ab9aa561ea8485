import Adapter
import Bluetooth
import HCI

/// A link between two controllers: its connection events, by the clock (Core 5.4, Vol 6, Part B, 4.5).
///
/// | State     | Input                                   | Then                                                         |
/// |-----------|-----------------------------------------|--------------------------------------------------------------|
/// | beginning | its first connection event              | both hosts are notified; 0x3E after six without an answer    |
/// | idle      | a packet to send                        | events until there is none                                   |
/// | any       | loss, or a controller that is away      | all events take place, and the supervision timeout counts    |
/// | any       | the instant of a change                 | both sides change, or one of them, which tears the link      |
///
/// Events without packets and without loss are skipped: an idle link costs nothing. Events outside its
/// subrating are skipped, too.
package final class VirtualLink {
  package private(set) lazy var central = makeEnd(.central)
  package private(set) lazy var peripheral = makeEnd(.peripheral)
  package private(set) lazy var ends = [central, peripheral]
  /// The number of the connection event at `anchor`.
  private(set) var event: UInt16 = 0
  /// True until the first connection event.
  private(set) var isBeginning = true

  /// The PHY of the advertisement, on which it begins.
  let phy: PHY
  private let request: ConnectionRequest
  private let advertiser: HCIAddress
  private let controllers: (central: VirtualController, peripheral: VirtualController)
  private let air: Air
  private let isReceived: Bool
  /// The time of event number `event`, or of the next one.
  private var anchor: Instant
  private var alarm: (any ScheduledWork)?
  /// True after a change that one side missed.
  private var isTorn = false
  /// True during a connection event.
  private var isTakingPlace = false
  /// Events since the link began, up to the limit.
  private var attempts = 0

  /// The events without an answer that end a new link (4.5.2).
  private static let attempts = 6

  /// The pause between two packets, in microseconds (4.1.1).
  private static let pause = 150

  init(
    _ request: ConnectionRequest, from central: VirtualController, to peripheral: VirtualController,
    at advertisement: Advertisement, isReceived: Bool, on air: Air
  ) {
    advertiser = advertisement.address
    phy = advertisement.isLegacy ? .le1M : advertisement.secondaryPHY
    (self.request, self.isReceived, self.air) = (request, isReceived, air)
    controllers = (central, peripheral)
    anchor = air.scheduler.now
  }

  private func makeEnd(_ role: LinkRole) -> LinkEnd {
    let isCentral = role == .central
    return LinkEnd(
      role, of: isCentral ? controllers.central : controllers.peripheral,
      own: isCentral ? request.own : advertiser, peer: isCentral ? advertiser : request.own, request.times, on: self)
  }

  /// The request has been sent: the first connection event is some time after it (4.5.3).
  func begin() {
    central.join()
    if isReceived { peripheral.join() } else { peripheral.forget() }
    central.report()
    let offset = air.time(in: .zero...request.times.duration)
    arm(at: anchor.advanced(by: .microseconds(1250) + offset))
  }

  func other(of end: LinkEnd) -> LinkEnd { end === central ? peripheral : central }

  func joins(_ one: VirtualController, _ other: VirtualController) -> Bool {
    let (central, peripheral) = controllers
    return central === one && peripheral === other || central === other && peripheral === one
  }

  func isBetween(_ one: HCIAddress, _ other: HCIAddress) -> Bool {
    let addresses = [request.own, advertiser]
    return addresses == [one, other] || addresses == [other, one]
  }

  // MARK: - Time

  private var interval: Duration { central.layer.times.duration }

  /// True if each event matters.
  private var isContinuous: Bool {
    isBeginning || isTorn || ends.contains(where: \.isOver)
      || air.loss(from: central.controller, to: peripheral.controller) > 0
      || air.loss(from: peripheral.controller, to: central.controller) > 0
  }

  /// The number of the next connection event.
  var upcoming: UInt16 { alarm == nil ? next(from: event &+ UInt16(truncatingIfNeeded: skipped)) : event }

  /// The first event from this one on that takes place.
  private func next(from event: UInt16) -> UInt16 { isContinuous ? event : central.layer.next(from: event) }

  /// The intervals until then, from the last event.
  private var skipped: Int64 {
    max(0, anchor.duration(to: air.scheduler.now).wholeNanoseconds) / interval.wholeNanoseconds + 1
  }

  /// Something changed that makes events matter, or not.
  func conditionsChanged() { if isContinuous { wake() } }

  /// There is something to send, at the next event.
  func wake() {
    guard alarm == nil, !isBeginning, !isTakingPlace, !ends.allSatisfy(\.isOver) else { return }
    // Nothing was lost meanwhile.
    for end in ends where end.lastHeard != nil { end.lastHeard = air.scheduler.now }
    let skipped = skipped
    event &+= UInt16(truncatingIfNeeded: skipped)
    let unused = next(from: event) &- event
    event &+= unused
    arm(at: anchor.advanced(by: .nanoseconds((skipped + Int64(unused)) * interval.wholeNanoseconds)))
  }

  private func arm(at time: Instant) {
    anchor = time
    alarm = air.scheduler.schedule(at: time) { [self] in takePlace() }
  }

  func endIsOver() {
    guard ends.allSatisfy(\.isOver) else {
      // The other side has to notice.
      return conditionsChanged()
    }
    alarm?.cancel()
    alarm = nil
    air.remove(self)
  }

  // MARK: - Connection events

  private func takePlace() {
    isTakingPlace = true
    defer { isTakingPlace = false }
    alarm = nil
    isBeginning = false
    attempts = min(attempts + 1, Self.attempts)
    let changes = (central.begins(event), peripheral.begins(event))
    if changes.0 != changes.1 { isTorn = true }
    let now = air.scheduler.now
    if !isTorn, central.layer.next(from: event) == event, isListening { exchange(now) }
    for end in ends { end.reportCompleted() }
    for end in ends where !end.isOver { supervise(end, now) }
    guard !ends.allSatisfy(\.isOver), isContinuous || ends.contains(where: \.isBusy) else { return }
    let next = next(from: event &+ 1)
    let distance = next &- event
    event = next
    arm(at: anchor.advanced(by: interval * Int(distance)))
  }

  /// True if the peripheral takes part: it may skip as many events as the latency says.
  private var isListening: Bool {
    !ends.contains(where: \.isOver)
      && peripheral.layer.next(from: event) == event
      && (peripheral.isBusy || peripheral.lastHeard == nil || peripheral.layer.mustListen(at: event))
  }

  private func supervise(_ end: LinkEnd, _ now: Instant) {
    if let heard = end.lastHeard {
      if heard.duration(to: now) >= end.layer.times.supervision { end.end(.connectionTimeout) }
    } else if attempts == Self.attempts {
      end.end(.connectionFailedToBeEstablished)
    }
  }

  /// Packets there and back, as long as there are any and the time of the event lasts.
  private func exchange(_ now: Instant) {
    var left = Int(interval.wholeNanoseconds / 1000) - Self.pause
    var packets = 0
    var goesOn = true
    while goesOn {
      left -= time(central) + time(peripheral) + 2 * Self.pause
      guard air.carries(from: central.controller, to: peripheral.controller) else { return }
      peripheral.lastHeard = now
      peripheral.report()
      let hasSent = central.deliver(to: peripheral)
      // A side that ends acknowledges that.
      guard air.carries(from: peripheral.controller, to: central.controller) else { return }
      central.lastHeard = now
      central.acknowledge()
      let hasReceived = peripheral.deliver(to: central)
      peripheral.acknowledge()
      if hasSent || hasReceived { for end in ends { end.hadData(at: event) } }
      goesOn = (hasSent || hasReceived) && !ends.contains(where: \.isOver) && ends.contains(where: \.hasMore)
      packets += 1
      if packets == longest || left < time(central) + time(peripheral) + 2 * Self.pause { return }
    }
  }

  /// Maximum packets of each side in an event; nil for as many as there is time for.
  private lazy var longest: Int? = ends.compactMap { $0.controller.model.packetsPerEvent }.min()

  /// The time of an end's next packet, in microseconds.
  private func time(_ end: LinkEnd) -> Int {
    AirTime.microseconds(end.nextOctets, on: PHY(rawValue: end.layer.phys.tx) ?? .le1M)
  }
}
