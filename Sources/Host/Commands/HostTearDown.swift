import Bluetooth
import HCI
import Radio

/// Takes a controller out of use: ends its links, one after the other, and resets it. Reset alone ends them without a
/// word on the air, and their devices would wait for the supervision timeout.
///
/// | State     | Input                                          | Then                                       |
/// |-----------|------------------------------------------------|--------------------------------------------|
/// | ending    | the answer to the last command                 | `send` Disconnect for the next link        |
/// | ending    | a link that comes up                           | it is ended as well                        |
/// | ending    | the end of the last link, or 500 ms have passed | `send` Reset: resetting                   |
/// | resetting | its answer, or 100 ms have passed              | `done`: over                               |
///
/// The reason is that this machine is switched off (Core 5.4, Vol 1, Part F, 2.21). Links of devices that acknowledge
/// nothing are left to Reset, and so is a controller that answers nothing: the time is for the octets to leave.
package struct HostTearDown {
  package enum Action: Hashable {
    case send(CommandPacket)
    case done
  }

  private enum State {
    /// The links that are to be ended, and those whose end was not told.
    case ending(next: [ConnectionHandle], left: Set<ConnectionHandle>)
    case resetting
    case over
  }

  private static let endTimeout = Duration.milliseconds(500)
  private static let resetTimeout = Duration.milliseconds(100)

  /// When `tick` is due; nil before the start and when it is over.
  package private(set) var deadline: Instant?

  private var state: State
  private var slot: CommandSlot
  /// The link that the last Disconnect was for.
  private var asked: ConnectionHandle?

  /// - Parameters:
  ///   - links: the links that there are.
  ///   - slot: the command that the controller executes.
  package init(links: [ConnectionHandle], slot: CommandSlot) {
    state = .ending(next: links, left: Set(links))
    self.slot = slot
  }

  package mutating func start(at now: Instant) -> [Action] {
    deadline = now.advanced(by: Self.endTimeout)
    return next(at: now)
  }

  package mutating func handle(_ event: HCIEvent, at now: Instant) -> [Action] {
    let answer = slot.receive(event, at: now)
    switch state {
    case .ending:
      if case .ours(let answer) = answer, answer.opcode == Disconnect.opcode, !answer.status.isSuccess {
        asked.map { ended($0) }
      }
      note(event)
      return next(at: now)
    case .resetting:
      guard case .ours = answer else { return [] }
      return finish()
    case .over: return []
    }
  }

  package mutating func tick(at now: Instant) -> [Action] {
    guard let deadline, deadline <= now else { return [] }
    switch state {
    case .ending: return reset(at: now)
    case .resetting: return finish()
    case .over: return []
    }
  }

  private mutating func note(_ event: HCIEvent) {
    switch event {
    case .disconnectionComplete(let end) where end.status.isSuccess: ended(end.handle)
    case .leConnectionComplete(let new) where new.status.isSuccess: began(new.handle)
    case .leEnhancedConnectionComplete(let new) where new.status.isSuccess: began(new.handle)
    default: break
    }
  }

  private mutating func began(_ handle: ConnectionHandle) {
    guard case .ending(let next, let left) = state, !left.contains(handle) else { return }
    state = .ending(next: next + [handle], left: left.union([handle]))
  }

  private mutating func ended(_ handle: ConnectionHandle) {
    guard case .ending(let next, let left) = state else { return }
    state = .ending(next: next.filter { $0 != handle }, left: left.subtracting([handle]))
  }

  private mutating func next(at now: Instant) -> [Action] {
    guard case .ending(var next, let left) = state, slot.isFree else { return [] }
    guard !left.isEmpty else { return reset(at: now) }
    guard !next.isEmpty else { return [] }
    let handle = next.removeFirst()
    state = .ending(next: next, left: left)
    asked = handle
    return send(CommandPacket(Disconnect(handle: handle, reason: HCIStatus(.remoteTerminatedPowerOff))), at: now)
  }

  private mutating func reset(at now: Instant) -> [Action] {
    state = .resetting
    deadline = now.advanced(by: Self.resetTimeout)
    return send(HostSetUp.reset, at: now)
  }

  private mutating func send(_ packet: CommandPacket, at now: Instant) -> [Action] {
    slot.send(packet, at: now)
    return [.send(packet)]
  }

  private mutating func finish() -> [Action] {
    state = .over
    deadline = nil
    return [.done]
  }
}
