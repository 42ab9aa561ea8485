import BledRPC
import Bluetooth
import GATT

/// A characteristic of a device whose values a program exchanges over a socket of its own. A packet of the program
/// waits in the link's queue and is sent as a Write Command; a value of the device becomes a packet.
final class AcquiredCharacteristic: ValuePipeOwner {
  let handle: UInt16
  let writes: Bool
  let values: Bool
  let pipe: ValuePipe
  private unowned let link: CentralLink

  init(_ handle: UInt16, of session: Session, on link: CentralLink, socket: ValueSocket, writes: Bool, values: Bool) {
    self.handle = handle
    self.link = link
    self.writes = writes
    self.values = values
    pipe = ValuePipe(socket, of: session, on: link.hub)
    pipe.owner = self
  }

  var session: Session { pipe.session }

  /// The longest value that a Write Command on the link carries, in octets.
  var maximumLength: Int { min(link.hub.mtu - 3, Attribute.longestValue) }

  func check(_ length: Int) throws(BluetoothError) {
    guard writes else {
      throw BledError.notAllowedByProperties.error(
        "characteristic \(handle.handleText) has no \"writeWithoutResponse\"")
    }
    guard length <= maximumLength else {
      throw BledError.invalidParameter.error(
        "a packet of \(length) octets was written; the limit on this link is \(maximumLength)")
    }
  }

  func send(_ value: [UInt8]) -> Bool {
    link.enqueue(LinkOperation(session, .acquiredCommand(self, value)))
    return false
  }

  func drained() {}

  func abandoned() {}

  func tellDropped(_ count: Int, isAtEnd: Bool) -> Bool {
    let params = GATTValuesDropped.Params(peripheral: link.hub.peripheral.id, handle: handle, values: count)
    let line = session.encoded { try RPCEncoding.notification(GATTValuesDropped.self, params) }
    return session.send(line, as: isAtEnd ? .event : .value) == .queued
  }

  func ended(_ reason: BluetoothError?, unsent: Int) {
    link.receivers.released(self)
    guard let reason else { return }
    session.send(
      GATTReleased.self,
      .init(peripheral: link.hub.peripheral.id, handle: handle, reason: RPCError(reason), unsent: unsent))
  }
}

extension CentralLink {
  /// Acquires a characteristic for a session, and subscribes to it if it reads values.
  func acquire(_ params: GATTAcquire.Params, for session: Session, _ reply: Reply<GATTAcquire.Result>) throws {
    guard let sockets else { throw GAPError.notSupported.error("this daemon passes no descriptors") }
    try enqueue(at: params.attribute, .characteristic, for: session, reply) { [unowned self] handle in
      let properties = discovery.known.properties(of: handle) ?? []
      let notifies = !properties.isDisjoint(with: [.notify, .indicate])
      let writes = properties.contains(.writeWithoutResponse)
      let values = params.values ?? notifies
      guard writes || values, notifies || !values else {
        _ = try discovery.known.characteristic(at: handle)
        throw BledError.notAllowedByProperties.error(
          params.values == true
            ? "characteristic \(handle.handleText) supports neither notifications nor indications"
            : "characteristic \(handle.handleText) can neither be written without response nor sends values")
      }
      try receivers.checkIsFree(handle, for: session)
      let (socket, passed) = try sockets.pair(for: session)
      if values { try receivers.join(session, to: handle, indications: params.indications, properties) }
      let acquired = AcquiredCharacteristic(
        handle, of: session, on: self, socket: socket, writes: writes, values: values)
      receivers.add(acquired)
      // Nobody waits for this one: it hands on what comes of the subscription.
      let outcome = Reply<AttributeFound>()
      outcome.afterwards = { result in
        do {
          _ = try result.get()
          guard acquired.pipe.isOpen else { throw GAPError.cancelled.error("the acquisition was cancelled") }
          try session.admitDescriptor()
          reply.succeed(
            .init(
              handle: handle, writes: acquired.writes, values: acquired.values, maximumLength: acquired.maximumLength),
            with: passed)
          acquired.pipe.begin()
        } catch {
          acquired.pipe.end(nil)
          reply.fail((error as? RPCError) ?? RPCError(error.asBluetoothError))
        }
      }
      guard values else { return LinkOperation(session, .acquisition(outcome)) }
      return LinkOperation(session, .subscription(SubscriptionChange(handle, on: true, outcome)))
    }
  }
}
