import Adapter
import HCI

extension KernelAdapter {
  /// Asks for other parameters. On a link that came to us the controllers settle it between them where both can; where one cannot,
  /// the device's host is asked (Core 5.4, Vol 3, Part A, 4.20).
  func request(_ parameters: ConnectionParameters, on link: KernelLink) {
    guard radio != nil, links[link.handle] === link else { return }
    let handle = link.handle
    let update = LEConnectionUpdate(
      handle: handle, intervalMin: TimeUnits.connection(parameters.interval.lowerBound),
      intervalMax: TimeUnits.connection(parameters.interval.upperBound), latency: UInt16(clamping: parameters.latency),
      supervisionTimeout: TimeUnits.supervision(parameters.supervisionTimeout))
    if link.role == .peripheral { wishedParameters[handle] = update }
    ask(update) { [weak self] answer in
      if !answer.status.isSuccess { self?.askHost(handle) }
    }
  }

  /// The controllers could not settle it. Asks once for each wish.
  func askHost(_ handle: UInt16) {
    guard let wish = wishedParameters.removeValue(forKey: handle), links[handle] != nil else { return }
    let packet = ACLDataPacket(handle: handle, boundary: 0, data: Self.connectionParameterUpdateRequest(wish))
    if hci?.send(HCIPacket.acl(packet).octets) == false { logger.error("the controller takes no data") }
  }

  /// CONNECTION_PARAMETER_UPDATE_REQ on the channel of LE signals. The answer goes to the kernel, which has no use for it; if it is
  /// yes, the device's controller changes the parameters.
  static func connectionParameterUpdateRequest(_ wish: LEConnectionUpdate) -> [UInt8] {
    let values = [wish.intervalMin, wish.intervalMax, wish.latency, wish.supervisionTimeout]
    return [12, 0, 0x05, 0, 0x12, 1, 8, 0] + values.flatMap { [UInt8(truncatingIfNeeded: $0), UInt8($0 >> 8)] }
  }
}
