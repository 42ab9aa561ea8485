/// A call's request for a resource that a session has once at the daemon, whichever of its users requested it: a link,
/// a subscription, a train.
package protocol UseRequest: Sendable {
  associatedtype Thing: Hashable & Sendable

  /// True if it may be for this resource.
  func mayMean(_ thing: Thing) -> Bool
  /// True if both may be for the same resource.
  func mayMean(_ other: Self) -> Bool
}

/// The users of the resources ("things") that one session has at the daemon. When a use or a call ends, its thing is
/// released, or its request withdrawn, once no other user has or awaits it. The machine does no I/O.
///
/// | State of a call | Input                 | Effect                                                                   |
/// |-----------------|-----------------------|--------------------------------------------------------------------------|
/// | none            | begin                 | waiting                                                                  |
/// | waiting         | answered(thing)       | ended; the thing has another user                                        |
/// | waiting         | ended                 | ended                                                                    |
/// | waiting         | abandoned             | abandoned                                                                |
/// | abandoned       | no other user, no call waiting for the same | withdrawn: withdraw(request)                       |
/// | abandoned, withdrawn | late(thing)      | ended; the thing is released as soon as no other user has or awaits it   |
/// | abandoned, withdrawn | late(nil)        | ended                                                                    |
/// | abandoned, withdrawn | ended            | nothing: the answer is still due                                         |
///
/// | State of a thing | Input                      | Effect                                                             |
/// |------------------|----------------------------|--------------------------------------------------------------------|
/// | any              | use                        | another user                                                       |
/// | used             | leave, by the last user    | release(thing) as soon as no waiting call may mean it              |
/// | used             | lost                       | unused; the daemon has released it by itself                       |
package struct Uses<Request: UseRequest> {
  /// A message for the daemon.
  package enum Undo {
    /// Cancel a pending request.
    case withdraw(Request)
    /// Release a thing.
    case release(Request.Thing)
  }

  private enum CallState {
    case waiting
    case abandoned
    case withdrawn
  }

  private var calls: [Int: (request: Request, state: CallState)] = [:]
  private var users: [Request.Thing: Int] = [:]
  /// The things without users that waiting calls may mean, or that are about to be released.
  private var unneeded: [Request.Thing] = []

  package init() {}

  package mutating func begin(_ call: Int, _ request: Request) { calls[call] = (request, .waiting) }

  /// A call was answered while its caller, which now uses the thing, waited for it.
  /// - Parameter thing: nil if the answer does not identify it.
  package mutating func answered(_ call: Int, _ thing: Request.Thing?) -> [Undo] {
    calls.removeValue(forKey: call)
    if let thing { use(thing) }
    return settle()
  }

  /// The end of a call without such an answer.
  package mutating func ended(_ call: Int) -> [Undo] {
    guard calls[call]?.state == .waiting else { return [] }
    calls.removeValue(forKey: call)
    return settle()
  }

  /// The caller no longer waits.
  package mutating func abandoned(_ call: Int) -> [Undo] {
    guard calls[call]?.state == .waiting else { return [] }
    calls[call]?.state = .abandoned
    return settle()
  }

  /// An abandoned call was answered.
  /// - Parameter thing: The thing that it has made; nil if it failed.
  package mutating func late(_ call: Int, _ thing: Request.Thing?) -> [Undo] {
    calls.removeValue(forKey: call)
    if let thing { drop(thing) }
    return settle()
  }

  package mutating func use(_ thing: Request.Thing) { users[thing, default: 0] += 1 }

  package mutating func leave(_ thing: Request.Thing) -> [Undo] {
    let left = users[thing, default: 1] - 1
    users[thing] = left > 0 ? left : nil
    drop(thing)
    return settle()
  }

  package mutating func lost(_ thing: Request.Thing) -> [Undo] {
    users.removeValue(forKey: thing)
    unneeded.removeAll { $0 == thing }
    return settle()
  }

  private mutating func drop(_ thing: Request.Thing) {
    if users[thing] == nil, !unneeded.contains(thing) { unneeded.append(thing) }
  }

  private mutating func settle() -> [Undo] {
    let waiting = calls.values.filter { $0.state == .waiting }.map(\.request)
    var undos: [Undo] = []
    var kept: [Request.Thing] = []
    for thing in unneeded where users[thing] == nil {
      if waiting.contains(where: { $0.mayMean(thing) }) { kept.append(thing) } else { undos.append(.release(thing)) }
    }
    unneeded = kept
    for (id, call) in calls.sorted(by: { $0.key < $1.key }) where call.state == .abandoned {
      let request = call.request
      let isNeeded = users.keys.contains { request.mayMean($0) } || waiting.contains { request.mayMean($0) }
      guard !isNeeded else { continue }
      calls[id]?.state = .withdrawn
      undos.append(.withdraw(request))
    }
    return undos
  }
}
