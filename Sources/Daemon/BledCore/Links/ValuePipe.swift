import Bluetooth

/// The owner of a `ValuePipe`.
protocol ValuePipeOwner: AnyObject {
  /// Checks whether a packet with this number of octets can be sent.
  func check(_ length: Int) throws(BluetoothError)
  /// Sends the program's packet.
  /// - Returns: false if it waits; then `ValuePipe.sent` or `failed` follows.
  func send(_ value: [UInt8]) -> Bool
  /// The program has read all waiting values.
  func drained()
  /// The program will not read waiting values.
  func abandoned()
  /// Reports the number of dropped values to the session.
  /// - Parameter isAtEnd: true if this is the last chance to report it.
  /// - Returns: false if there is no room for the report.
  func tellDropped(_ count: Int, isAtEnd: Bool) -> Bool
  /// The pipe has ended.
  /// - Parameters:
  ///   - reason: nil if the program ended it.
  ///   - unsent: the number of unsent packets of the program.
  func ended(_ reason: BluetoothError?, unsent: Int)
}

/// Values of one characteristic that a program exchanges with a device over its own socket.
///
/// | Input                               | Effect                                                                  |
/// |-------------------------------------|-------------------------------------------------------------------------|
/// | a packet of the program             | it is sent; the next one is read when it was                            |
/// | a packet that cannot be sent        | the end                                                                 |
/// | a value of the device               | a packet to the program; if it does not read, the link is held, then values are dropped and counted |
/// | the program has read waiting values | dropped ones are reported to the session                                |
/// | the program closes its end, or shuts down its sending | earlier packets are sent, then the end                                  |
/// | the link, the session, the handle ends | the end, reported with the number of unsent packets                     |
final class ValuePipe {
  let session: Session
  private unowned let hub: LinkHub
  private let socket: ValueSocket
  /// Set before `begin`.
  weak var owner: (any ValuePipeOwner)?
  private(set) var isOpen = true
  /// True while a packet waits to be sent.
  private var isSending = false
  private var unsent = 0
  private var dropped = 0

  init(_ socket: ValueSocket, of session: Session, on hub: LinkHub) {
    self.session = session
    self.hub = hub
    self.socket = socket
    socket.onEvent = { [unowned self] event in happened(event) }
  }

  /// The program has its end, or is about to.
  func begin() {
    if isOpen { socket.resume() }
  }

  /// True if the program reads so slowly that values wait.
  var isCongested: Bool { socket.isCongested }

  /// Passes a value from the device to the program.
  /// - Returns: false if it was dropped.
  @discardableResult
  func receive(_ value: [UInt8]) -> Bool {
    guard isOpen else { return false }
    if dropped > 0, !socket.isCongested { tellDropped() }
    // From the first value without room, drops all until there is ample room again, so there is one gap.
    guard dropped == 0, socket.send(value), !socket.isGone else {
      dropped += 1
      session.costs.packetsLost += 1
      return false
    }
    if socket.isCongested { _ = hub.brake.pause(for: session) }
    return true
  }

  /// The waiting packet was sent.
  func sent() {
    isSending = false
    if isOpen { socket.resume() }
  }

  /// The waiting packet cannot be sent.
  func failed() {
    isSending = false
    unsent += 1
  }

  /// Ends it.
  /// - Parameter reason: the event for the session; nil if its program ended it.
  func end(_ reason: BluetoothError?) {
    guard isOpen else { return }
    isOpen = false
    unsent += socket.close()
    hub.brake.resume()
    if dropped > 0 { _ = owner?.tellDropped(dropped, isAtEnd: true) }
    owner?.ended(reason, unsent: unsent)
  }

  private func happened(_ event: ValueSocket.Event) {
    guard let owner else { return }
    switch event {
    case .received(let value, let length):
      do throws(BluetoothError) {
        try owner.check(length)
      } catch {
        unsent += 1
        return end(error)
      }
      isSending = true
      if owner.send(value) { isSending = false }
      // The value may have been sent in the meantime.
      if isSending { socket.pause() }
    case .drained:
      hub.brake.resume()
      if dropped > 0 { tellDropped() }
      owner.drained()
    case .abandoned:
      hub.brake.resume()
      owner.abandoned()
    case .closed: end(nil)
    }
  }

  private func tellDropped() {
    if owner?.tellDropped(dropped, isAtEnd: false) == true { dropped = 0 }
  }
}
