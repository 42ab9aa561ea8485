import Adapter
import Bluetooth
import HCI
import Radio

/// A link over HCI: the members common to all of them. They differ in the path of their packets.
protocol AdapterLink: Link, ControllerLink {
  /// The requests of the controller's links.
  var requester: LinkRequester { get }
  var context: AdapterContext { get }
  var parameters: LinkParameters? { get set }
  var layer: LinkLayer { get set }
  var life: LinkLife { get set }
  /// Rings when the time for sent packets to leave before the end is over.
  var departure: (any ScheduledWork)? { get set }

  /// True if sent packets have not left the controller.
  var isUnsent: Bool { get }
  /// The link starts or stops waiting for sent packets to leave before it ends.
  func departureChanged()
  /// Makes the controller end the link, now.
  func hangUp()
  /// Begins to read the device's packets.
  func open()
  /// Delivers the packets received before the end, and closes the packet path.
  func close(_ error: BluetoothError)
}

// MARK: - Requests

extension AdapterLink {
  var isUsable: Bool { !isOver && !life.isDisconnecting }

  func request(_ parameters: ConnectionParameters, _ done: @escaping (BluetoothError?) -> Void) {
    requester.request(parameters, on: self, done)
  }

  func request(_ phy: LinkPHY, _ done: @escaping (BluetoothError?) -> Void) { requester.request(phy, on: self, done) }

  func request(longestPacket octets: Int, _ done: @escaping (BluetoothError?) -> Void) {
    requester.request(longestPacket: octets, on: self, done)
  }

  func transfer(_ train: TransferredTrain, serviceData: UInt16, _ done: @escaping (BluetoothError?) -> Void) {
    requester.transfer(train, serviceData: serviceData, over: self, done)
  }

  func receiveTrain(
    _ parameters: SyncParameters, _ done: @escaping (Result<ReceivedTrain, BluetoothError>) -> Void
  ) { requester.receiveTrain(parameters, over: self, done) }

  func stopReceivingTrain() { requester.trains.stop(self) }

  func readRSSI(_ done: @escaping (Result<Int, BluetoothError>) -> Void) { requester.readRSSI(of: self, done) }

  /// The controller reported new parameters.
  func updateParameters() {
    let new = requester.parameters(of: handle)
    guard new.connection != parameters || new.layer != layer else { return }
    (parameters, layer) = new
    tell(.parametersChanged)
  }

  /// The device opened a channel.
  func opened(_ channel: any Channel) {
    guard isUsable, let onEvent else { return channel.close() }
    onEvent(.channel(channel))
  }

  /// Drops events while disconnecting.
  func tell(_ event: LinkEvent) { if !life.isDisconnecting { onEvent?(event) } }
}

// MARK: - The life of the link

extension AdapterLink {
  func disconnect() { disconnect(because: nil) }

  /// Ends the link as soon as sent packets have left.
  /// - Parameter failure: the reason why it could not be encrypted.
  func disconnect(because failure: HCIStatus?) {
    guard life.leave() else { return }
    life.failure = failure ?? life.failure
    guard isUnsent else { return leave() }
    departure = context.scheduler.schedule(after: LinkLife.departure) { [weak self] in self?.leave() }
    departureChanged()
  }

  /// Ends the link at once, since the device misbehaves.
  /// - Parameter cause: a sentence about it.
  func giveUp(_ cause: String) {
    guard life.giveUp(cause) else { return }
    context.logger.warning("a device is disconnected: \(cause)", metadata: ["peer": "\(peer)"])
    leave()
  }

  /// Ends the link now.
  func leave() {
    stopDeparture()
    if !life.isOver { hangUp() }
  }

  private func stopDeparture() {
    guard let departure else { return }
    departure.cancel()
    self.departure = nil
    departureChanged()
  }

  /// The user knows the link: events may be delivered.
  func start() {
    let end = life.start()
    open()
    if let end { deliver(end) }
  }

  /// The link has ended: earlier packets are delivered, then the end, once.
  /// - Parameter unsent: the number of packets that did not leave.
  func end(_ error: BluetoothError, unsent: Int) {
    guard !life.isOver else { return }
    stopDeparture()
    if unsent > 0 {
      context.logger.log(
        level: life.isDisconnecting ? .warning : .debug,
        "a link ended before everything sent on it was transmitted",
        metadata: ["peer": "\(peer)", "packets": "\(unsent)"])
    }
    if life.end(error) { deliver(error) }
  }

  private func deliver(_ end: BluetoothError) {
    close(end)
    onEvent?(.ended(end))
    onEvent = nil
  }
}
