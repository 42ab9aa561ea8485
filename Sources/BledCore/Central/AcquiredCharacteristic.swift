import BledRPC
import Bluetooth
import GATT

/// A characteristic of a device whose values a program exchanges over a socket of its own.
///
/// | Input                               | What happens                                                            |
/// |-------------------------------------|-------------------------------------------------------------------------|
/// | a packet of the program             | a Write Command in the link's queue; the next packet is read when it was sent |
/// | a packet longer than the link takes | the end                                                                 |
/// | a value of the device               | a packet to the program; if it does not read, the link is held, then values are dropped and counted |
/// | the program has read what waited    | it is told what was dropped                                             |
/// | the program closes its end          | what it wrote before is sent, then the end                              |
/// | the link, the session, the handle ends | the end, which is told with what was not sent                        |
final class AcquiredCharacteristic {
  let session: Session
  let handle: UInt16
  let writes: Bool
  let values: Bool
  private unowned let link: CentralLink
  private let socket: ValueSocket
  private(set) var isOpen = true
  /// Whether a command waits in the link's queue.
  private var isQueued = false
  private var unsent = 0
  private var dropped = 0

  init(_ handle: UInt16, of session: Session, on link: CentralLink, socket: ValueSocket, writes: Bool, values: Bool) {
    self.session = session
    self.handle = handle
    self.link = link
    self.socket = socket
    self.writes = writes
    self.values = values
    socket.onEvent = { [unowned self] event in happened(event) }
  }

  /// The longest value that a Write Command on the link carries, in octets.
  var maximumLength: Int { min(link.hub.mtu - 3, Attribute.longestValue) }

  /// The program has its end, or is about to.
  func begin() {
    if isOpen { socket.resume() }
  }

  /// Passes a value of the device to the program.
  func take(_ value: [UInt8]) {
    guard isOpen, values else { return }
    if dropped > 0, !socket.isCongested { tellDropped(as: .value) }
    // From the first that has no room on until there is ample room again, so that the gap is one.
    guard dropped == 0, socket.send(value) else {
      dropped += 1
      session.costs.packetsLost += 1
      return
    }
    if socket.isCongested { _ = link.hub.hold(for: session) }
  }

  /// Its command was sent.
  func sent() {
    isQueued = false
    if isOpen { socket.resume() }
  }

  /// Its command cannot be sent.
  func failed() {
    isQueued = false
    unsent += 1
  }

  /// Ends it.
  /// - Parameter reason: what the session is told; nil if its program ended it.
  func end(_ reason: BluetoothError?) {
    guard isOpen else { return }
    isOpen = false
    unsent += socket.close()
    link.released(self)
    if dropped > 0 { tellDropped(as: .event) }
    guard let reason else { return }
    session.send(
      GATTReleased.self,
      .init(peripheral: link.hub.peripheral.id, handle: handle, reason: RPCError(reason), unsent: unsent))
  }

  private func happened(_ event: ValueSocket.Event) {
    switch event {
    case .received(let value, let length):
      guard writes else {
        unsent += 1
        return end(
          BledError.notAllowedByProperties.error("characteristic \(handle.handleText) has no \"writeWithoutResponse\""))
      }
      guard length <= maximumLength else {
        unsent += 1
        return end(
          BledError.invalidParameter.error(
            "a packet of \(length) octets was written; the limit on this link is \(maximumLength)"))
      }
      isQueued = true
      link.enqueue(LinkOperation(session, .acquiredCommand(self, value)))
      if isQueued { socket.pause() }
    case .drained:
      link.hub.releaseBrake()
      if dropped > 0 { tellDropped(as: .value) }
    case .closed: end(nil)
    }
  }

  /// Tells what was dropped; without room for that it goes on.
  private func tellDropped(as kind: Outbox.Kind) {
    let params = GATTValuesDropped.Params(peripheral: link.hub.peripheral.id, handle: handle, values: dropped)
    let line = session.encoded { try RPCEncoding.notification(GATTValuesDropped.self, params) }
    if session.send(line, as: kind) == .queued { dropped = 0 }
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
      try checkIsFree(handle, for: session)
      let (socket, passed) = try sockets.pair(for: session)
      if values { try join(session, to: handle, indications: params.indications, properties) }
      let acquired = AcquiredCharacteristic(
        handle, of: session, on: self, socket: socket, writes: writes, values: values)
      add(acquired)
      // Nobody waits for this one: it hands on what comes of the subscription.
      let outcome = Reply<AttributeFound>()
      outcome.afterwards = { result in
        do {
          _ = try result.get()
          guard acquired.isOpen else { throw GAPError.cancelled.error("the acquisition was cancelled") }
          try session.admitDescriptor()
          reply.succeed(
            .init(
              handle: handle, writes: acquired.writes, values: acquired.values, maximumLength: acquired.maximumLength),
            with: passed)
          acquired.begin()
        } catch {
          acquired.end(nil)
          reply.fail((error as? RPCError) ?? RPCError(error.asBluetoothError))
        }
      }
      guard values else { return LinkOperation(session, .acquisition(outcome)) }
      return LinkOperation(session, .subscription(SubscriptionChange(handle, on: true, outcome)))
    }
  }
}
