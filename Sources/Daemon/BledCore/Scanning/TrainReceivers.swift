import Adapter
import BledRPC
import Bluetooth

/// The sessions waiting for trains that devices transfer over their links; all sessions waiting for a device's train
/// get the same one.
///
/// | Link    | Input                                    | Then                                               |
/// |---------|------------------------------------------|----------------------------------------------------|
/// | (none)  | receive                                  | the link is asked → waiting                        |
/// | waiting | receive                                  | one more waits                                     |
/// | waiting | a train                                  | all have it, but those whose subevents it lacks fail → (none) |
/// | waiting | a failure, the end of the link           | all fail → (none)                                  |
/// | waiting | the time of a call, stop, a program has ended | that call fails; the last one: the link is notified → (none) |
final class TrainReceivers {
  private final class Waiter {
    let follower: TrainFollower
    let reply: Reply<PeriodicReceive.Result>
    var alarm: (any ScheduledWork)?
    var session: Session { follower.session }

    init(_ follower: TrainFollower, _ reply: Reply<PeriodicReceive.Result>) {
      self.follower = follower
      self.reply = reply
    }
  }

  private struct Wait {
    let link: any Link
    /// The device at the other end.
    let device: Peripheral
    let number: Int
    var waiters: [Waiter]
  }

  /// Makes sessions follow an already followed train.
  typealias Adopt = (ReceivedTrain, [TrainFollower], AdapterSlot) -> PeriodicSync.Result

  private let scheduler: any Scheduler
  private var waits: [LinkID: Wait] = [:]
  private var lastNumber = 0

  init(scheduler: any Scheduler) { self.scheduler = scheduler }

  /// The number of waiting calls from these sessions.
  func count(_ isMeant: (Session) -> Bool) -> Int {
    waits.values.reduce(0) { $0 + $1.waiters.count { isMeant($0.session) } }
  }

  /// Waits for a device's train.
  func receive(
    over link: any Link, with device: Peripheral, on slot: AdapterSlot, timeout: Double?,
    for follower: TrainFollower, _ reply: Reply<PeriodicReceive.Result>, _ adopt: @escaping Adopt
  ) throws {
    if let wait = waits[link.id], wait.waiters.contains(where: { $0.session == follower.session }) {
      throw BledError.alreadyInProgress.error("this session waits for a train of that device")
    }
    let waiter = Waiter(follower, reply)
    waiter.alarm = timeout.map { time in
      scheduler.schedule(after: .seconds(time)) { [weak self] in
        let error = GAPError.timeout.error("the device transferred no train within \(time) s")
        self?.remove(error) { $0 === waiter }
      }
    }
    guard waits[link.id] == nil else {
      waits[link.id]?.waiters.append(waiter)
      return
    }
    lastNumber += 1
    let (id, number) = (link.id, lastNumber)
    waits[id] = Wait(link: link, device: device, number: number, waiters: [waiter])
    link.receiveTrain(.following(interval: nil)) { [weak self, unowned slot] result in
      let wait = self?.end(id, number)
      switch result {
      case .success(let train):
        let refusals = (wait ?? []).map { ($0, $0.follower.problem(with: train.subevents)) }
        let taken = refusals.filter { $1 == nil }.map(\.0)
        let followed = adopt(train, taken.map(\.follower), slot)
        for (waiter, error) in refusals { if let error { waiter.reply.fail(error) } }
        for waiter in taken {
          waiter.reply.succeed(
            .init(
              peripheral: followed.peripheral, adapter: followed.adapter, sid: followed.sid,
              interval: followed.interval, phy: followed.phy, serviceData: Int(train.serviceData),
              responses: followed.responses))
        }
      case .failure(let error): for waiter in wait ?? [] { waiter.reply.fail(error) }
      }
    }
  }

  /// A link's wait is over.
  /// - Returns: the waiters; nil if it was over before.
  private func end(_ id: LinkID, _ number: Int) -> [Waiter]? {
    guard waits[id]?.number == number, let wait = waits.removeValue(forKey: id) else { return nil }
    for waiter in wait.waiters { waiter.alarm?.cancel() }
    return wait.waiters
  }

  /// A session's calls end: for one device, or all.
  func stop(_ session: Session, of device: Peripheral?, _ error: BluetoothError) {
    remove(error, of: device) { $0.session == session }
  }

  private func remove(_ error: BluetoothError, of device: Peripheral? = nil, _ isMeant: (Waiter) -> Bool) {
    for (id, wait) in waits where device == nil || wait.device === device {
      let removed = wait.waiters.filter(isMeant)
      guard !removed.isEmpty else { continue }
      waits[id]?.waiters.removeAll { waiter in removed.contains { $0 === waiter } }
      if waits[id]?.waiters.isEmpty == true {
        waits[id] = nil
        wait.link.stopReceivingTrain()
      }
      for waiter in removed {
        waiter.alarm?.cancel()
        waiter.reply.fail(error)
      }
    }
  }
}
