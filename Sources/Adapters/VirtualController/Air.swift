import Adapter
import Bluetooth
import HCI

/// The air between controllers: it carries advertisements and the packets of links, with one clock and one source of
/// chance. Equal seeds and equal calls give equal events.
package final class Air {
  package let scheduler: any Scheduler
  package let seed: UInt64
  /// Called with each rule that a host broke.
  package var onFault: ((String) -> Void)?
  package private(set) var links: [VirtualLink] = []

  /// The controllers that listen, in the order in which they began to.
  private var listeners: [VirtualController] = []
  private var broadcasts: [Broadcast] = []
  /// The trains, by number, and the number of those so far.
  private var trains: [Int: Train] = [:]
  private var trainCount = 0
  private var generator: SeededGenerator
  /// The probability that a packet is lost, by sender and receiver.
  private var losses: [Path: Double] = [:]

  /// One direction between two controllers.
  private struct Path: Hashable {
    let sender: ObjectIdentifier
    let receiver: ObjectIdentifier

    init(_ sender: VirtualController, _ receiver: VirtualController) {
      (self.sender, self.receiver) = (ObjectIdentifier(sender), ObjectIdentifier(receiver))
    }
  }

  package init(scheduler: any Scheduler, seed: UInt64) {
    self.scheduler = scheduler
    self.seed = seed
    generator = SeededGenerator(seed: seed, stream: 0)
  }

  // MARK: - Chance

  func chance(_ probability: Double) -> Bool { generator.chance(probability) }
  func time(in range: ClosedRange<Duration>) -> Duration { generator.duration(in: range) }

  // MARK: - Reach

  /// Sets the loss of packets from one controller to another; 0 at first, 1 for those out of reach.
  package func setLoss(_ probability: Double, from sender: VirtualController, to receiver: VirtualController) {
    losses[Path(sender, receiver)] = probability > 0 ? probability : nil
    for link in links where link.joins(sender, receiver) { link.conditionsChanged() }
  }

  /// The probability that a packet between two controllers is lost.
  func loss(from sender: VirtualController, to receiver: VirtualController) -> Double {
    guard sender.isOnAir, receiver.isOnAir else { return 1 }
    return losses.isEmpty ? 0 : losses[Path(sender, receiver)] ?? 0
  }

  /// True if this packet arrives.
  func carries(from sender: VirtualController, to receiver: VirtualController) -> Bool {
    !generator.chance(loss(from: sender, to: receiver))
  }

  // MARK: - Controllers

  /// A controller is on the air again, or no longer.
  func presenceChanged(of controller: VirtualController) {
    audienceChanged(by: controller)
    for link in links where link.ends.contains(where: { $0.controller === controller }) { link.conditionsChanged() }
  }

  // MARK: - Advertisements

  /// Puts an advertisement on the air.
  package func add(_ broadcast: Broadcast) {
    guard broadcast.place == nil else { return }
    broadcast.place = broadcasts.count
    broadcasts.append(broadcast)
    update(broadcast)
  }

  /// Takes an advertisement from the air.
  package func remove(_ broadcast: Broadcast) {
    guard let place = broadcast.place else { return }
    broadcast.place = nil
    broadcast.setSending(false, on: self)
    let last = broadcasts.removeLast()
    guard last !== broadcast else { return }
    broadcasts[place] = last
    last.place = place
  }

  /// A controller begins or ends to listen, or listens for others. The other listeners are asked only about
  /// advertisements that lose their receiver: on a crowded air, asking all of them about each takes minutes.
  func audienceChanged(by controller: VirtualController) {
    let place = listeners.firstIndex { $0 === controller }
    switch (place, controller.isListening) {
    case (nil, false): return
    case (nil, true): listeners.append(controller)
    case (let place?, false): listeners.remove(at: place)
    case (.some, true): break
    }
    for broadcast in broadcasts {
      if broadcast.receiver == nil, controller.receives(broadcast) {
        broadcast.receiver = controller
        broadcast.setSending(true, on: self)
      } else if broadcast.receiver === controller, !controller.receives(broadcast) {
        update(broadcast)
      }
    }
  }

  /// An advertisement without a receiver is not sent, unless its events are counted.
  private func update(_ broadcast: Broadcast) {
    broadcast.receiver = listeners.first { $0.receives(broadcast) }
    broadcast.setSending(broadcast.onSent != nil || broadcast.receiver != nil, on: self)
  }

  func transmit(_ broadcast: Broadcast) {
    guard broadcast.sender?.isOnAir ?? true else { return }
    for receiver in listeners where receiver.receives(broadcast) {
      // The receiver may have connected to it, which ends it.
      guard broadcast.place != nil else { return }
      if let sender = broadcast.sender, !carries(from: sender, to: receiver) { continue }
      guard let rssi = broadcast.signal() else { continue }
      receiver.activities.receive(broadcast, rssi: Int8(clamping: rssi))
    }
  }

  // MARK: - Trains

  /// Puts a train on the air.
  /// - Parameter make: makes it, with its number.
  func addTrain(_ make: (Int) -> Train) -> Train {
    trainCount += 1
    let train = make(trainCount)
    trains[trainCount] = train
    return train
  }

  func removeTrain(_ train: Train) {
    trains[train.information.number] = nil
    train.end()
  }

  /// The train of an announcement; nil if it has left the air.
  func train(_ information: TrainInformation) -> Train? { trains[information.number] }

  // MARK: - Connection requests

  /// A controller sends a connection request to the sender of an advertisement.
  /// - Returns: true if its initiator has ended.
  func request(_ request: ConnectionRequest, from central: VirtualController, to broadcast: Broadcast) -> Bool {
    guard let peripheral = broadcast.sender else { return false }
    let address = broadcast.advertisement.address
    let others = links.filter { $0.joins(central, peripheral) && $0.isBetween(request.own, address) }
    // No second link to the same device, unless neither knows of the other's request.
    let crossing = others.first { $0.isBeginning && $0.central.controller === peripheral }
    guard others.isEmpty || crossing != nil else { return false }
    var isReceived = carries(from: central, to: peripheral) && peripheral.accepts(request, to: broadcast)
    if let crossing, isReceived, !crossing.peripheral.isOver {
      isReceived = request.own.value < crossing.central.own.value
      if isReceived { crossing.peripheral.forget() }
    }
    // An extended request is answered: without an answer the initiator continues.
    guard isReceived || broadcast.advertisement.isLegacy else { return false }
    let link = VirtualLink(
      request, from: central, to: peripheral, at: broadcast.advertisement, isReceived: isReceived, on: self)
    links.append(link)
    if isReceived { peripheral.activities.advertising.connected(by: broadcast, link.peripheral) }
    link.begin()
    return true
  }

  func remove(_ link: VirtualLink) { links.removeAll { $0 === link } }
}
