import Adapter
import BledRPC
import Bluetooth

/// The link's parameters: values in force, and sessions' requests.
extension LinkHub {
  /// The parameters in force.
  var linkDescription: LinkDescription {
    var description = LinkDescription(peripheral: peripheral.id, role: Word(link.role), mtu: mtu)
    if bearers.count > 0 { description.bearers = 1 + bearers.count }
    description.interval = link.parameters?.interval.inSeconds
    description.latency = link.parameters?.latency
    description.timeout = link.parameters?.supervisionTimeout.inSeconds
    if let parameters = link.parameters, parameters.subrate > 1 {
      (description.subrate, description.continuation) = (parameters.subrate, parameters.continuation)
    }
    description.txPHY = link.layer.txPHY.map { Word($0) }
    description.rxPHY = link.layer.rxPHY.map { Word($0) }
    description.txOctets = link.layer.txOctets
    description.rxOctets = link.layer.rxOctets
    let security = link.security
    if let level = security.protection { (description.security, description.keySize) = (Word(level), security.keySize) }
    return description
  }

  /// The sessions' merged requests.
  private var wanted: ConnectionParameters? {
    ConnectionParameters.best(of: (central.wishes + server.wishes.values).map(\.parameters))
  }

  /// Merges the sessions' requests after a change, and asks the adapter unless the result is in force.
  /// - Parameter done: called once when that is settled, with the reason for unchanged parameters, or nil.
  func wishesChanged(_ done: @escaping (BluetoothError?) -> Void = { _ in }) {
    let wanted = wanted
    link.setWish(wanted)
    pace.changed(isFree: wanted == nil, link.parameters)
    let usual = link.role == .central ? ConnectionParameters() : nil
    ask(arbiter.want(wanted, else: usual, current: link.parameters), done)
  }

  // MARK: The pace

  /// The link is new, and its programs are known.
  func paceBegins() {
    guard isOpen, paceAlarm == nil else { return }
    let isFree = link.role == .central && wanted == nil
    let isCrowded = pace.began(isFree: isFree, others: slot.linkCount - 1, link.parameters, at: scheduler.now)
    if isCrowded { ask(arbiter.relax()) { _ in } } else { awaitPace() }
  }

  /// The alarm may fire too early: each step of a discovery postpones the deadline.
  private func awaitPace() {
    guard let deadline = pace.deadline else { return }
    paceAlarm = scheduler.schedule(at: deadline) { [weak self] in
      guard let self, isOpen else { return }
      if pace.timePassed(at: scheduler.now) { ask(arbiter.relax()) { _ in } } else { awaitPace() }
    }
  }

  /// Gives a new link the longest packets and the PHY supported by both sides.
  /// - Parameter phy: the merged requests; nil: the defaults. A link initiated on another PHY than LE 1M then keeps it,
  ///   as the device can be reached on that one.
  func improve(_ phy: LinkPHY?, _ defaults: LinkDefaults) {
    // Neither is promised: where one side cannot, the link is as it is.
    if defaults.longestPacket > 27 {
      improvement.begins()
      link.request(longestPacket: defaults.longestPacket) { [weak self] _ in self?.improved() }
    }
    let current = link.layer.txPHY ?? .le1M
    let usual = current == .le1M && defaults.phy == .le2M ? LinkPHY(.le2M) : nil
    guard let wanted = phy ?? usual, wanted.phy != current || wanted.coding != nil else { return }
    improvement.begins()
    link.request(wanted) { [weak self] _ in self?.improved() }
  }

  private func improved() {
    guard isOpen else { return }
    improvement.ends().forEach { $0() }
  }

  /// Answers with the parameters in force; on a new link after the procedures that change it.
  func answer(_ reply: Reply<LinkDescription>) {
    let call = { [weak self] in
      guard let self, isOpen else { return reply.fail(Self.gone) }
      reply.succeed(linkDescription)
    }
    if !improvement.waits(call) { call() }
  }

  /// Answers a call that requested other parameters, PHYs or packets.
  func answer(_ reply: Reply<LinkDescription>, _ error: BluetoothError?) {
    if let error { return reply.fail(error) }
    if isOpen { reply.succeed(linkDescription) } else { reply.fail(Self.gone) }
  }

  func parametersChanged() {
    reportParameters()
    pace.changed(isFree: true, link.parameters)
    if let current = link.parameters { ask(arbiter.changed(to: current)) { _ in } }
  }

  private func ask(_ parameters: ConnectionParameters?, _ done: @escaping (BluetoothError?) -> Void) {
    guard let parameters, isOpen else { return done(nil) }
    link.request(parameters) { [weak self] error in
      self?.arbiter.settled()
      done(error)
    }
  }

  /// Reports the parameters in force to the sessions using or serving the device.
  func reportParameters() {
    toldMTU = mtu
    toldSecurity = link.security
    let sessions = server.served.union(central.users)
    guard !sessions.isEmpty else { return }
    let line = try? RPCEncoding.notification(PeripheralParametersChanged.self, linkDescription)
    for session in sessions.sorted(by: { $0.id < $1.id }) { session.send(line, as: .event) }
  }

  /// Replaces a session's request; nil: none.
  /// - Parameter done: as in `wishesChanged`.
  func setWish(_ wish: CheckedWish?, of session: Session, _ done: @escaping (BluetoothError?) -> Void) {
    // The request outlasts the link where the session is to have the next one, too.
    let isKept = central.setWish(wish, of: session)
    server.wishes[session] = isKept ? nil : wish
    wishesChanged { [weak self] error in done(self?.concerns(error, wish) == false ? nil : error) }
  }

  /// True if an error concerns a session's own request: another session may have requested the impossible short
  /// interval.
  private func concerns(_ error: BluetoothError?, _ wish: CheckedWish?) -> Bool {
    guard let error, error.domain == .gap, error.code == GAPError.notSupported.rawValue,
      arbiter.wanted?.isShort == true, let current = link.parameters
    else { return true }
    guard let parameters = wish?.parameters else { return false }
    return parameters.isShort || current.interval > parameters.interval.upperBound
  }
}
