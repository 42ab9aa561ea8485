import Adapter
import HCI

/// Parameters that were requested on a link and are not settled.
struct ParameterRequest {
  let asked: LEConnectionUpdate
  /// What was requested since: one request at a time is made, and only the newest is kept.
  var next: LEConnectionUpdate?
}

extension KernelAdapter {
  /// Asks for other parameters. On a link that came to us the controllers settle it between them where both can; where
  /// one cannot, the device's host is asked (Core 5.4, Vol 3, Part A, 4.20).
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
    guard parameterRequests[handle] == nil else {
      parameterRequests[handle]?.next = update
      return
    }
    parameterRequests[handle] = ParameterRequest(asked: update)
    ask(update) { [weak self] answer in
      if !answer.status.isSuccess { self?.parametersRefused(handle) }
    }
  }

  /// The controllers have settled it. The newest of the requests made in the meantime is next.
  func parametersSettled(_ handle: UInt16) {
    guard let next = parameterRequests.removeValue(forKey: handle)?.next, let link = links[handle] else { return }
    request(next, on: link)
  }

  /// The controllers could not settle it. Where the central decides, its host is asked for the newest request.
  func parametersRefused(_ handle: UInt16) {
    guard let last = parameterRequests.removeValue(forKey: handle), links[handle]?.role == .peripheral else { return }
    let request = Self.connectionParameterUpdateRequest(last.next ?? last.asked)
    let packet = ACLDataPacket {
      $0.handle = handle
      $0.data = request
    }
    if hci?.send(HCIPacket.acl(packet).octets) == false { logger.error("the controller accepts no data") }
  }

  /// CONNECTION_PARAMETER_UPDATE_REQ on the channel of LE signals. The answer goes to the kernel, which has no use for
  /// it; if it is accepted, the device's controller changes the parameters.
  static func connectionParameterUpdateRequest(_ update: LEConnectionUpdate) -> [UInt8] {
    let values = [update.intervalMin, update.intervalMax, update.latency, update.supervisionTimeout]
    return [12, 0, 0x05, 0, 0x12, 1, 8, 0] + values.flatMap { [UInt8(truncatingIfNeeded: $0), UInt8($0 >> 8)] }
  }
}
