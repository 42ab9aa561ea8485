import Bluetooth
import HCI
import Radio

/// Takes a controller out of use: ends its links, one after the other, and resets it. Reset alone ends them without a
/// word on the air, and their devices would wait for the supervision timeout.
///
/// | State     | Input                                        | Then                                |
/// |-----------|----------------------------------------------|-------------------------------------|
/// | ending    | the answer to a command, or none in 500 ms   | `send` Disconnect for the next link |
/// | ending    | a new link                                   | it is ended as well                 |
/// | ending    | the end of the last link, or 2 s have passed | `send` Reset: resetting             |
/// | resetting | its answer, or 1 s has passed                | `done`: over                        |
///
/// Devices receive the reason "power off" (Core 5.4, Vol 1, Part F, 2.21). A link already ending refuses Disconnect;
/// its end is awaited all the same. Devices without an acknowledgement for 2 s are left to their timeout. Reset is sent
/// even if the controller owes a response, but not while it executes Reset already.
package struct HostTearDown {
  package enum Action: Hashable {
    case send(CommandPacket)
    case done
  }

  private enum State {
    /// The links still to be ended, and those whose end is pending.
    case ending(next: [ConnectionHandle], left: Set<ConnectionHandle>)
    case resetting
    case over
  }

  private static let endTimeout = Duration.seconds(2)
  private static let resetTimeout = Duration.seconds(1)
  /// Maximum time for a command other than Reset.
  private static let commandTimeout = Duration.milliseconds(500)

  /// When the state ends at the latest; nil before the start and when it is over.
  private var limit: Instant?
  /// The time to send the next command even if the last one has no answer; nil if no answer is pending.
  private var patience: Instant?

  private var state: State
  private var slot: CommandSlot
  /// The link of the current or last Disconnect.
  private var asked: ConnectionHandle?

  /// - Parameters:
  ///   - links: the existing links.
  ///   - slot: the command in progress.
  package init(links: [ConnectionHandle], slot: CommandSlot) {
    state = .ending(next: links, left: Set(links))
    self.slot = slot
  }

  /// When `tick` is due; nil before the start and when it is over.
  package var deadline: Instant? { [limit, patience].compactMap { $0 }.min() }

  package mutating func start(at now: Instant) -> [Action] {
    guard slot.outstanding != HostSetUp.reset.opcode else {
      state = .resetting
      limit = now.advanced(by: Self.resetTimeout)
      return []
    }
    limit = now.advanced(by: Self.endTimeout)
    return next(at: now)
  }

  package mutating func handle(_ event: HCIEvent, at now: Instant) -> [Action] {
    let answer = slot.receive(event, at: now)
    switch state {
    case .ending:
      // Other refusals mean that the link is already ending.
      if case .ours(let answer) = answer, answer.status.code == .unknownConnectionIdentifier, let asked { ended(asked) }
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
    case .ending:
      guard let limit, limit > now else { return reset(at: now) }
      slot = CommandSlot()
      asked = nil
      return next(at: now)
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
    guard case .ending(var next, let left) = state else { return [] }
    guard slot.isFree else {
      patience = patience ?? now.advanced(by: Self.commandTimeout)
      return []
    }
    patience = nil
    guard !left.isEmpty else { return reset(at: now) }
    guard !next.isEmpty else { return [] }
    let handle = next.removeFirst()
    state = .ending(next: next, left: left)
    asked = handle
    patience = now.advanced(by: Self.commandTimeout)
    return send(CommandPacket(Disconnect(handle: handle, reason: HCIStatus(.remoteTerminatedPowerOff))), at: now)
  }

  private mutating func reset(at now: Instant) -> [Action] {
    state = .resetting
    patience = nil
    limit = now.advanced(by: Self.resetTimeout)
    return send(HostSetUp.reset, at: now)
  }

  private mutating func send(_ packet: CommandPacket, at now: Instant) -> [Action] {
    slot.send(packet, at: now)
    return [.send(packet)]
  }

  private mutating func finish() -> [Action] {
    state = .over
    limit = nil
    return [.done]
  }
}
