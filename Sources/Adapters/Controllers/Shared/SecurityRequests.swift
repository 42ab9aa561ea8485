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

  mutating func wait(for level: Int, _ done: @escaping (BluetoothError?) -> Void) { waiting.append((level, done)) }

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
  /// Answers a request for protection if no action is needed.
  /// - Parameters:
  ///   - current: the level of the link.
  ///   - bond: the bond with its device.
  /// - Returns: false if the protection is to be raised.
  func answers(
    _ level: Int, on link: any ControllerLink, at current: Int, _ bond: Bond?,
    _ done: @escaping (BluetoothError?) -> Void
  ) -> Bool {
    if !link.isUsable {
      fail(done, GAPError.notConnected.error("\(link.peer) is not connected"))
    } else if current >= level {
      scheduler.execute { done(nil) }
    } else if let bond, !bond.reaches(level, as: link.role) {
      let words = "the keys shared with \(link.peer) do not reach this level: forget them, and pair again"
      fail(done, GAPError.pairingFailed.error(words))
    } else {
      return false
    }
    return true
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
