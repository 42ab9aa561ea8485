import BledRPC
import Bluetooth

/// A client's connection to a device.
///
/// | State      | Input                | Output                                                                  |
/// |------------|----------------------|-------------------------------------------------------------------------|
/// | connecting | connected            | connected                                                               |
/// | connected  | a request by handle  | done at once if the attributes are discovered, else after the discovery |
/// | connected  | services changed     | the next request discovers again                                        |
/// | connected  | disconnect           | disconnecting                                                           |
/// | any        | ended                | removed by its owner; requests fail                                     |
struct DeviceLink {
  enum State {
    /// `isCancelled`: the client no longer wants it.
    case connecting(isCancelled: Bool)
    case connected(peripheral: String, mtu: Int)
    case disconnecting(peripheral: String)
  }

  enum Discovery {
    case none
    case running
    case done([ServiceDescription])
  }

  enum Subscription {
    case starting
    case on
  }

  /// The requests that wait for the discovery.
  static let waitingLimit = 128

  var state = State.connecting(isCancelled: false)
  var discovery = Discovery.none
  var waiting: [(Result<[ServiceDescription], BluetoothError>) -> Void] = []
  var subscriptions: [UInt16: Subscription] = [:]
  /// True if the client wants the device's attributes forgotten after this connection.
  var isToBeForgotten = false

  /// bled's identifier of the device, while it is connected.
  var connected: String? {
    if case .connected(let peripheral, _) = state { peripheral } else { nil }
  }

  /// The device, also at the end of the connection.
  var peripheral: String? {
    switch state {
    case .connected(let peripheral, _), .disconnecting(let peripheral): peripheral
    case .connecting: nil
    }
  }

  /// The handles of the Client Characteristic Configurations: the daemon writes them itself.
  static func configurations(_ services: [ServiceDescription]) -> Set<UInt16> {
    let characteristics = services.flatMap { $0.characteristics ?? [] }
    let descriptors: [DescriptorDescription] = characteristics.flatMap { $0.descriptors ?? [] }
    return Set(descriptors.filter { $0.uuid == 0x2902 }.map(\.handle))
  }
}
