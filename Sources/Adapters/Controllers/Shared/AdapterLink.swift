import Adapter
import Bluetooth
import HCI

/// A link over HCI: the members that are alike in all of them. Its packets have a way of their own.
protocol AdapterLink: Link, ControllerLink {
  /// The requests of the controller's links.
  var requester: LinkRequester { get }
  var parameters: LinkParameters? { get set }
  var layer: LinkLayer { get set }
  /// Whether we end the link.
  var isDisconnecting: Bool { get }
  /// The reason for which it could not be encrypted, and is ended.
  var failure: HCIStatus? { get }
}

extension AdapterLink {
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

  /// The controller told other parameters.
  func updateParameters() {
    let new = requester.parameters(of: handle)
    guard new.connection != parameters || new.layer != layer else { return }
    (parameters, layer) = new
    tell(.parametersChanged)
  }

  /// The device opened a channel.
  func opened(_ channel: any Channel) {
    guard !isOver, !isDisconnecting, let onEvent else { return channel.close() }
    onEvent(.channel(channel))
  }

  /// No more events are awaited on a link that is being disconnected.
  func tell(_ event: LinkEvent) { if !isDisconnecting { onEvent?(event) } }

  /// The reason to tell for the controller's one.
  func told(_ reason: HCIStatus) -> HCIStatus {
    switch reason.code {
    // A controller that does not know the link ended it before we asked for that.
    case .remoteUserTerminatedConnection, .unknownConnectionIdentifier:
      isDisconnecting ? failure ?? HCIStatus(.terminatedByLocalHost) : reason
    // A link that could not be encrypted is ended for Authentication Failure, for any reason.
    case .terminatedByLocalHost, .authenticationFailure: failure ?? reason
    default: reason
    }
  }
}
