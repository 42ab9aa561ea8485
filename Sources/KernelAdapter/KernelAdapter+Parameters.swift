import Adapter
import HCI

/// Parameters that were asked for on a link and are not settled.
struct ParameterWish {
  let asked: LEConnectionUpdate
  /// What was asked for since: one at a time, and the newest counts, however many come.
  var next: LEConnectionUpdate?
}

extension KernelAdapter {
  /// Asks for other parameters. On a link that came to us the controllers settle it between them where both can; where one cannot,
  /// the device's host is asked (Core 5.4, Vol 3, Part A, 4.20).
  func request(_ parameters: ConnectionParameters, on link: KernelLink) {
    request(
      LEConnectionUpdate {
        $0.handle = link.handle
        $0.intervalMin = TimeUnits.connection(parameters.interval.lowerBound)
        $0.intervalMax = TimeUnits.connection(parameters.interval.upperBound)
        $0.latency = UInt16(clamping: parameters.latency)
        $0.supervisionTimeout = TimeUnits.supervision(parameters.supervisionTimeout)
      }, on: link)
  }

  private func request(_ update: LEConnectionUpdate, on link: KernelLink) {
    guard radio != nil, links[link.handle] === link else { return }
    let handle = link.handle
    guard parameterWishes[handle] == nil else {
      parameterWishes[handle]?.next = update
      return
    }
    parameterWishes[handle] = ParameterWish(asked: update)
    ask(update) { [weak self] answer in
      if !answer.status.isSuccess { self?.parametersRefused(handle) }
    }
  }

  /// The controllers have settled it. The newest of the wishes that came meanwhile is next.
  func parametersSettled(_ handle: UInt16) {
    guard let next = parameterWishes.removeValue(forKey: handle)?.next, let link = links[handle] else { return }
    request(next, on: link)
  }

  /// The controllers could not settle it. Where the central decides, its host is asked for the newest wish.
  func parametersRefused(_ handle: UInt16) {
    guard let wish = parameterWishes.removeValue(forKey: handle), links[handle]?.role == .peripheral else { return }
    let request = Self.connectionParameterUpdateRequest(wish.next ?? wish.asked)
    let packet = ACLDataPacket {
      $0.handle = handle
      $0.data = request
    }
    if hci?.send(HCIPacket.acl(packet).octets) == false { logger.error("the controller takes no data") }
  }

  /// CONNECTION_PARAMETER_UPDATE_REQ on the channel of LE signals. The answer goes to the kernel, which has no use for it; if it is
  /// yes, the device's controller changes the parameters.
  static func connectionParameterUpdateRequest(_ wish: LEConnectionUpdate) -> [UInt8] {
    let values = [wish.intervalMin, wish.intervalMax, wish.latency, wish.supervisionTimeout]
    return [12, 0, 0x05, 0, 0x12, 1, 8, 0] + values.flatMap { [UInt8(truncatingIfNeeded: $0), UInt8($0 >> 8)] }
  }
}
