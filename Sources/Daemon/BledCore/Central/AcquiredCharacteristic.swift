import BledRPC
import Bluetooth
import GATT

/// A device's characteristic with its own socket for a program's values. A packet from the program waits in the link's
/// queue and is sent as a Write Command; a value of the device becomes a packet.
final class AcquiredCharacteristic: ValuePipeOwner {
  let handle: UInt16
  let writes: Bool
  let values: Bool
  let pipe: ValuePipe
  private unowned let link: CentralLink
  /// True if the session is notified when the program's end is closed.
  private var tellsClosing = false

  init(_ handle: UInt16, of session: Session, on link: CentralLink, socket: ValueSocket, writes: Bool, values: Bool) {
    self.handle = handle
    self.link = link
    self.writes = writes
    self.values = values
    pipe = ValuePipe(socket, of: session, on: link.hub)
    pipe.owner = self
  }

  var session: Session { pipe.session }

  /// The longest value of a Write Command on the link, in octets.
  var maximumLength: Int { min(link.hub.mtu - 3, Attribute.longestValue) }

  /// The program has its end.
  func begin(tellsClosing: Bool) {
    self.tellsClosing = tellsClosing
    pipe.begin()
  }

  func check(_ length: Int) throws(BluetoothError) {
    guard writes else {
      throw BledError.notAllowedByProperties.error(
        "a packet was written, and the descriptor of characteristic \(handle.handleText) is for values alone")
    }
    guard length <= maximumLength else {
      throw BledError.invalidParameter.error(
        "a packet of \(length) octets was written; the limit on this link is \(maximumLength)")
    }
  }

  func send(_ value: [UInt8]) -> Bool {
    let completion = LinkOperation.Completion(
      next: { [pipe] _, _ in
        pipe.sent()
        return nil
      }, fail: { [pipe] _ in pipe.failed() })
    link.enqueue(
      LinkOperation(session, .command(isSigned: false), completion, .writeWithoutResponse(handle, value)))
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
    let closing = tellsClosing ? GAPError.cancelled.error("the other end of the descriptor was closed") : nil
    guard let reason = reason ?? closing else { return }
    session.send(
      GATTReleased.self,
      .init(
        peripheral: link.hub.peripheral.id, handle: handle, reason: RPCError(reason), unsent: unsent, writes: writes,
        values: values))
  }
}

extension AttributeRequests {
  /// Acquires a characteristic, or one direction of it, for a session, and subscribes to it if it reads values.
  func acquire(_ params: GATTAcquire.Params, for session: Session, _ reply: Reply<GATTAcquire.Result>) throws {
    guard let sockets = link.sockets else { throw GAPError.notSupported.error("this daemon passes no descriptors") }
    try enqueue(at: params.attribute, .characteristic, for: session, reply) { handle in
      let properties = link.discovery.known.properties(of: handle) ?? []
      let notifies = !properties.isDisjoint(with: [.notify, .indicate])
      let isWritable = properties.contains(.writeWithoutResponse)
      let (writes, values) = (params.writes ?? isWritable, params.values ?? notifies)
      guard writes || values, notifies || !values, isWritable || !writes else {
        _ = try link.discovery.known.characteristic(at: handle)
        throw Self.refusal(of: params, handle)
      }
      try link.receivers.checkIsFree(handle, for: session, writes: writes, values: values)
      let (socket, passed) = try sockets.pair(for: session)
      if values { try link.receivers.join(session, to: handle, indications: params.indications, properties) }
      let acquired = AcquiredCharacteristic(
        handle, of: session, on: link, socket: socket, writes: writes, values: values)
      link.receivers.add(acquired)
      // No caller waits for this one: it passes on the subscription's result.
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
          acquired.begin(tellsClosing: params.closing == true)
        } catch {
          acquired.pipe.end(nil)
          reply.fail((error as? RPCError) ?? RPCError(error.asBluetoothError))
        }
      }
      guard values else { return LinkOperation(session, .other, .init(outcome)) }
      return link.receivers.operation(changing: handle, on: true, for: session, outcome)
    }
  }

  /// The reason why a characteristic cannot be acquired in this way.
  private static func refusal(of params: GATTAcquire.Params, _ handle: UInt16) -> BluetoothError {
    switch (params.writes, params.values) {
    case (false, false): BledError.invalidParameter.error("\"writes\" and \"values\" are both false")
    case (_, true):
      BledError.notAllowedByProperties.error(
        "characteristic \(handle.handleText) supports neither notifications nor indications")
    case (true, _):
      BledError.notAllowedByProperties.error(
        "characteristic \(handle.handleText) cannot be written without response")
    default:
      BledError.notAllowedByProperties.error(
        "characteristic \(handle.handleText) can neither be written without response nor sends values")
    }
  }
}
