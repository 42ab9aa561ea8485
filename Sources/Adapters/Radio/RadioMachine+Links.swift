import Bluetooth
import HCI

/// The controller's links, and their ends.
extension FamilyRadioMachine {
  /// Disconnect was answered.
  mutating func disconnected(_ handle: UInt16, _ status: HCIStatus, at now: Instant) -> [RadioAction] {
    disconnecting = nil
    guard links.contains(handle) else { return [] }
    if status.code == .unknownConnectionIdentifier {
      giveUp(handle)
      return [.linkDown(handle: handle, status)]
    }
    links.isLeaving(handle, at: now)
    return []
  }

  /// Disconnection Complete is missing. If the controller lost the link, it reports so now, which the kernel needs,
  /// too.
  mutating func linkLost(_ handle: UInt16) -> [RadioAction] {
    giveUp(handle)
    return [.linkDown(handle: handle, HCIStatus(.unknownConnectionIdentifier)), .send(.disconnect(handle))]
  }

  /// This link's device may be connected again.
  /// - Returns: true if there was such a link.
  @discardableResult
  mutating func giveUp(_ handle: UInt16) -> Bool {
    let (wasThere, free) = links.ended(handle)
    guard wasThere else { return false }
    if let free { initiator.linkDown(free) }
    advertising.retry()
    return true
  }

  /// Ends the links that ended without an event, and adopts new ones without one.
  mutating func compare(_ existing: [ExistingLink], at now: Instant) -> [RadioAction] {
    let (ended, began) = links.compare(existing)
    for handle in ended { giveUp(handle) }
    let down = ended.map { RadioAction.linkDown(handle: $0, HCIStatus(.unknownConnectionIdentifier)) }
    return began.reduce(down) { actions, link in actions + connected(NewLink(link), at: now) }
  }

  mutating func connected(_ link: NewLink, at now: Instant) -> [RadioAction] {
    let (status, handle) = (link.status, link.handle)
    if status.code == .advertisingTimeout {
      // The high duty cycle of directed advertising is over; extended sets report their own end.
      return Advertising.reportsEndOfAdvertising ? [] : advertising.ended(handle: nil, status)
    }
    guard status.isSuccess else {
      return initiator.connectionComplete(status: status, handle: handle, peer: link.peer, at: now)
    }
    if let failure = links.refusal(of: handle) { return profile.isExclusive ? [.broken(failure)] : [] }
    let stale: [RadioAction] =
      giveUp(handle) ? [.linkDown(handle: handle, HCIStatus(.unknownConnectionIdentifier))] : []
    links.began(
      handle, link.peer, link.role == .central ? .central : .peripheral,
      supervisionTimeout: link.parameters?.supervisionTimeout, at: now)
    // No program can use a link to no device, and no other host would end it.
    let end: [RadioAction] = link.peer == nil && profile.isExclusive ? [.send(.disconnect(handle))] : []
    let up = stale + [.linkUp(handle: handle, link.role, link.peer, link.parameters)] + end
    guard link.role == .central else {
      if let peer = link.peer { initiator.linkUp(peer) }
      // Extended sets report their own end.
      return up + (Advertising.reportsEndOfAdvertising ? [] : advertising.ended(handle: nil, status))
    }
    return up + initiator.connectionComplete(status: status, handle: handle, peer: link.peer, at: now)
  }
}
