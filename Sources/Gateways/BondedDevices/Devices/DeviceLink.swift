import BledRPC
import Bluetooth

/// The link to a bonded device, up to the discovery of its services.
///
/// | State       | Input                        | Next        | Steps                                               |
/// |-------------|------------------------------|-------------|-----------------------------------------------------|
/// | away        | begin                        | connecting  | connect, which waits and connects again             |
/// | connecting  | answer: connected            | checking    | ask for the protection of the link                  |
/// | connecting  | answer: failed               | paused      |                                                     |
/// | checking    | the level of the bond        | discovering | discover                                            |
/// | checking    | less, or another adapter     | paused      | disconnect                                          |
/// | discovering | `leave`: without the service | other       | disconnect                                          |
/// | discovering | `use`: the services          | open        |                                                     |
/// | any of these | services changed            | discovering | discover                                            |
/// | any of these | paired anew                 | checking    | ask for the protection                              |
/// | any of these | disconnected, reconnecting  | lost        | unlinked                                            |
/// | any of these | disconnected; a failed step | paused      | the same, disconnect                                |
/// | lost        | connected                    | checking    | ask for the protection of the link                  |
/// | paused      | begin                        | connecting  | connect                                             |
/// | other       | services changed             | connecting  | connect                                             |
/// | any         | session lost                 | away        | unlinked                                            |
/// | any         | forgotten                    | away        |                                                     |
package struct DeviceLink<Call: DeviceCall> {
  package enum Step: Hashable {
    case call(Call)
    /// `begin` is expected after a pause.
    case pause(Duration)
    case say(String)
    /// The link has ended.
    case unlinked
  }

  private enum State {
    case away
    case connecting
    case checking
    case discovering
    case open
    case lost
    case paused
    case other
  }

  private static var longestPause: Int { 60 }

  /// The bond, with the identity address.
  package var bond: BondDescription
  private var state = State.away
  private var failures = 0
  /// Distinguishes links: an answer to a call on an earlier one has no effect.
  package private(set) var number = 0

  package init(_ bond: BondDescription) { self.bond = bond }

  /// Whether there is a link, which may not be checked yet.
  package var isUp: Bool {
    switch state {
    case .checking, .discovering, .open: true
    case .away, .connecting, .lost, .paused, .other: false
    }
  }

  /// Whether the link has the protection of the bond, and the services are not known yet.
  package var isDiscovering: Bool { state == .discovering }

  /// Whether the services are in use.
  package var isOpen: Bool { state == .open }

  /// Whether it waits before it is connected again.
  package var isPaused: Bool { state == .paused }

  /// Whether the device was found to be of no use.
  package var isLeftAlone: Bool { state == .other }

  /// - Returns: nil for an input that does not concern the link.
  package mutating func handle(_ input: DeviceInput<Call>) -> [Step]? {
    switch input {
    case .begin: return begin()
    case .answer(.connect, let result): return connected(result)
    case .answer(.parameters, let result): return checked(result)
    case .answer(.discover, .failure(let error)): return retry("cannot be discovered", error)
    case .answer(.disconnect, _): return []
    case .answer: return nil
    case .connected(let adapter): return state == .lost ? connected(adapter) : []
    case .disconnected(let isReconnecting): return disconnected(isReconnecting)
    case .connectFailed(let error):
      guard state == .lost else { return [] }
      return [.say("is not connected to again, which is tried: \(error.message)")] + pause()
    case .servicesChanged: return servicesChanged()
    case .paired: return paired()
    case .sessionLost, .forgotten:
      state = .away
      number += 1
      if case .forgotten = input { return [] }
      return [.unlinked]
    case .parametersChanged, .subscriptionLost, .valuesLost, .value: return nil
    }
  }

  // MARK: The user's decisions

  /// The services are in use from now on.
  package mutating func use() { state = .open }

  /// The device lacks the service, or a part of it.
  package mutating func leave() -> [Step] {
    state = .other
    return [.call(.disconnect)]
  }

  /// All steps have succeeded: the next pause is a short one.
  package mutating func succeeded() { failures = 0 }

  package mutating func refuse(_ fault: String) -> [Step] {
    [.call(.disconnect), .say("\(fault): it is not used, and connected again later")] + pause()
  }

  /// A step failed on a link that may still be there.
  package mutating func retry(_ step: String, _ error: BluetoothError) -> [Step] {
    [.call(.disconnect), .say("\(step), which is tried again: \(error.message)")] + pause()
  }

  /// The other system has refused the device.
  package mutating func giveUp() -> [Step] { isUp ? [.call(.disconnect)] + pause() : [] }

  // MARK: Inputs

  private mutating func begin() -> [Step] {
    guard state == .away || state == .paused else { return [] }
    state = .connecting
    return [.call(.connect)]
  }

  private mutating func connected(_ result: Result<DeviceAnswer, BluetoothError>) -> [Step] {
    switch result {
    case .success(.connected(let adapter)): return connected(adapter)
    case .success: return []
    case .failure(let error):
      let text = "cannot be connected to, which is tried again: \(error.message)"
      return (failures == 0 ? [.say(text)] : []) + pause()
    }
  }

  /// On another adapter, or without the protection of the bond, the device may be another one with its address.
  private mutating func connected(_ adapter: String) -> [Step] {
    guard adapter.hasSameOctets(as: bond.adapterAddress) else {
      return refuse("is connected over another adapter than \(bond.adapterAddress), which has its keys")
    }
    state = .checking
    return [.call(.parameters)]
  }

  private mutating func checked(_ result: Result<DeviceAnswer, BluetoothError>) -> [Step] {
    switch result {
    case .success(.parameters(let level)):
      guard state == .checking else { return [] }
      guard let level, let needed = bond.level.known, level.covers(needed) else {
        return refuse("has a link without the protection of its keys")
      }
      state = .discovering
      return [.call(.discover)]
    case .success: return []
    case .failure(let error): return retry("has a link with an unknown protection", error)
    }
  }

  private mutating func servicesChanged() -> [Step] {
    switch state {
    case .discovering, .open:
      state = .discovering
      return [.call(.discover)]
    case .other:
      state = .connecting
      return [.call(.connect)]
    case .away, .connecting, .checking, .lost, .paused: return []
    }
  }

  private mutating func paired() -> [Step] {
    switch state {
    case .checking, .discovering, .open:
      state = .checking
      return [.call(.parameters)]
    case .other:
      state = .away
      return []
    case .away, .connecting, .lost, .paused: return []
    }
  }

  private mutating func disconnected(_ isReconnecting: Bool) -> [Step] {
    guard isUp else { return [] }
    guard isReconnecting else { return pause() }
    state = .lost
    number += 1
    return [.unlinked]
  }

  private mutating func pause() -> [Step] {
    state = .paused
    failures += 1
    number += 1
    return [.unlinked, .pause(.seconds(min(Self.longestPause, 1 << min(failures, 6))))]
  }
}

extension SecurityLevel {
  /// Whether a link of this level has the protection of another one; the cases have the order of their strength.
  fileprivate func covers(_ other: Self) -> Bool {
    Self.allCases.drop { $0 != other }.contains(self)
  }
}
