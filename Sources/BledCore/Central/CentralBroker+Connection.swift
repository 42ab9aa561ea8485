import Adapter
import BledRPC

extension CentralBroker {
  /// One call of `peripheral.connect` that waits.
  final class Request {
    let session: Session
    let reply: Reply<PeripheralConnect.Result>
    var alarm: (any ScheduledWork)?

    init(_ session: Session, _ reply: Reply<PeripheralConnect.Result>) {
      self.session = session
      self.reply = reply
    }
  }

  /// A device that somebody wants or that is linked.
  final class Connection {
    let peripheral: Peripheral
    var slot: AdapterSlot
    var machine = ConnectMachine<Session, Request>()
    var device: DeviceLink?
    /// Rings when a link that did not last is to be asked for again.
    var retry: (any ScheduledWork)?
    /// Whether the MTU was asked for on this link; a client may ask once only (Core 5.4, Vol 3, Part F, 3.4.2.1).
    var hasNegotiated = false

    init(_ peripheral: Peripheral, on slot: AdapterSlot) {
      self.peripheral = peripheral
      self.slot = slot
    }
  }
}

extension CentralBroker.Request: Hashable {
  static func == (left: CentralBroker.Request, right: CentralBroker.Request) -> Bool { left === right }
  func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
