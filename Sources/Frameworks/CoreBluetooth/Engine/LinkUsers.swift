import BledConnection
import BledRPC
import Bluetooth

/// The users of a manager's links at the daemon: the program, and the manager's own questions. The last user releases a
/// link. Everything runs on the engine's queue.
///
/// | State of a user | Input              | Effect                                                            |
/// |-----------------|--------------------|-------------------------------------------------------------------|
/// | none            | connect            | the daemon is asked → waiting                                     |
/// | none            | join               | → using                                                           |
/// | waiting         | answer             | reported → using, or → none if it failed                          |
/// | waiting         | end                | the request is cancelled, unless others need the same link → none |
/// | using           | end                | the link is released, unless others need it → none                |
/// | using           | the link has ended | → none                                                            |
/// | any             | the session ended  | → none                                                            |
final class LinkUsers {
  private enum User {
    case waiting
    case using(UsedLink)
  }

  private unowned let engine: CentralEngine
  private var uses = Uses<LinkRequest>()
  private var users: [Int: User] = [:]
  private var lastUser = 0

  init(of engine: CentralEngine) { self.engine = engine }

  /// Asks the daemon for a link.
  /// - Parameter then: Called with the answer, unless the user or the session has ended before.
  /// - Returns: The user's number.
  func connect(
    _ params: PeripheralConnect.Params,
    then: @escaping (_ user: Int, Result<PeripheralConnect.Result, BluetoothError>) -> Void
  ) -> Int {
    let user = add(.waiting)
    uses.begin(user, LinkRequest(.init(peripheral: params.peripheral)))
    engine.call(PeripheralConnect.self, params) { [weak self] result in
      guard let self else { return }
      let link = (try? result.get()).map { UsedLink($0) }
      guard users[user] != nil else { return undo(uses.late(user, link)) }
      users[user] = link.map { .using($0) }
      undo(link == nil ? uses.ended(user) : uses.answered(user, link))
      then(user, result)
    }
    return user
  }

  /// The session has a link, or a pending request for one, in use from now on.
  /// - Returns: The user's number.
  func join(_ peripheral: String) -> Int {
    let link = UsedLink(peripheral: peripheral)
    uses.use(link)
    return add(.using(link))
  }

  /// A user no longer needs its link.
  /// - Parameter failed: Called if the link is released, and the daemon refuses: no end follows.
  /// - Returns: True if the link is released, so its end follows.
  @discardableResult
  func end(_ user: Int, failed: @escaping () -> Void = {}) -> Bool {
    switch users.removeValue(forKey: user) {
    case nil: return false
    case .waiting?:
      undo(uses.abandoned(user))
      return false
    case .using(let link)?:
      let undos = uses.leave(link)
      undo(undos, failed: failed)
      return undos.contains { if case .release(link) = $0 { true } else { false } }
    }
  }

  /// A link has ended by itself, and does not come back.
  func lost(_ peripheral: String) {
    let link = UsedLink(peripheral: peripheral)
    users = users.filter { if case .using(link) = $0.value { false } else { true } }
    undo(uses.lost(link))
  }

  /// The session has ended, and all links with it.
  func reset() { (uses, users) = (Uses(), [:]) }

  private func add(_ user: User) -> Int {
    lastUser += 1
    users[lastUser] = user
    return lastUser
  }

  private func undo(_ undos: [Uses<LinkRequest>.Undo], failed: @escaping () -> Void = {}) {
    for undo in undos {
      switch undo {
      case .withdraw(let request): engine.call(PeripheralDisconnect.self, request.withdrawal)
      case .release(let link):
        engine.call(PeripheralDisconnect.self, .init(peripheral: link.peripheral)) { result in
          if result.failure != nil { failed() }
        }
      }
    }
  }
}
