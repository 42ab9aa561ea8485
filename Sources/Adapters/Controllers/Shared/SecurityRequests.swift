import Adapter
import Bluetooth
import HCI

/// The pending requests to raise the protection of one link.
struct SecurityRequests {
  private var waiting: [(level: Int, done: (BluetoothError?) -> Void)] = []

  var isEmpty: Bool { waiting.isEmpty }
  /// The highest requested level, 2 to 4; nil without a request.
  var highest: Int? { waiting.map(\.level).max() }
  /// The lowest requested level.
  var lowest: Int? { waiting.map(\.level).min() }

  /// True if a request wants more than this level.
  func wantsMore(than level: Int) -> Bool { highest.map { $0 > level } ?? false }

  mutating func wait(for level: Int, _ done: @escaping (BluetoothError?) -> Void) { waiting.append((level, done)) }

  /// Ends the requests with a level that the link has, after the call that caused it.
  mutating func settleReached(at level: Int, in context: AdapterContext) {
    let reached = waiting.filter { $0.level <= level }
    waiting.removeAll { $0.level <= level }
    context.scheduler.execute { for request in reached { request.done(nil) } }
  }

  /// Ends the requests, after the call that caused it.
  /// - Parameters:
  ///   - level: the level of the link now.
  ///   - error: the error of all; nil if those with a level that the link has succeed, and others fail.
  ///   - countsReached: true if requests with a level that the link has succeed in spite of an error.
  mutating func settle(
    at level: Int, _ error: BluetoothError?, countsReached: Bool = false, in context: AdapterContext
  ) {
    let settled = waiting
    waiting = []
    let missed = GAPError.pairingFailed.error(
      "the device and this machine cannot reach this security level together; the link has level \(level)")
    context.scheduler.execute {
      for request in settled {
        let isReached = request.level <= level && (error == nil || countsReached)
        request.done(isReached ? nil : error ?? missed)
      }
    }
  }
}

extension AdapterContext {
  /// The way to raise the protection of a link, `encrypt` or `pair`.
  /// - Parameters:
  ///   - current: the level of the link.
  ///   - bond: the bond with its device.
  /// - Returns: nil if no action is needed: the request is answered.
  func way(
    to level: Int, on link: any ControllerLink, at current: Int, _ bond: Bond?, replacesBond: Bool,
    _ done: @escaping (BluetoothError?) -> Void
  ) -> SecurityRaise? {
    guard link.isUsable else {
      fail(done, GAPError.notConnected.error("\(link.peer) is not connected"))
      return nil
    }
    guard current < level else {
      scheduler.execute { done(nil) }
      return nil
    }
    let keyLevel = bond.map { $0.level(as: link.role) ?? 1 }
    let way = SecurityRaise(to: level, keyLevel: keyLevel, replacesBond: replacesBond, peer: link.peer)
    guard case .refuse(let error) = way else { return way }
    fail(done, error)
    return nil
  }
}

extension BluetoothError {
  /// True if a link that cannot be encrypted with a bond's keys ends with this HCI error.
  static func isOfLostKeys(_ code: Int) -> Bool {
    let causes: [HCIErrorCode] = [.authenticationFailure, .pinOrKeyMissing, .terminatedMICFailure]
    return causes.contains { Int($0.rawValue) == code }
  }

  static func lostKeys(of peer: DeviceAddress) -> BluetoothError {
    GAPError.pairingFailed.error(
      "\(peer) and this machine do not share keys any more: remove the pairing on both sides, then pair again")
  }

  /// The reason why a link could not be encrypted, if the link ended for this one meanwhile.
  func ofBond(with peer: DeviceAddress) -> BluetoothError {
    domain == .hci && Self.isOfLostKeys(code) ? .lostKeys(of: peer) : self
  }
}
