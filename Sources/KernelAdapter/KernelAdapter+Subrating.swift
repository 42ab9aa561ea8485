import Adapter
import Bluetooth
import HCI
import Radio

/// Other parameters of a link, by one command or two (`ParameterStep`).
extension KernelAdapter {
  /// Asks for other parameters.
  func request(
    _ wanted: ConnectionParameters, on link: KernelLink, _ done: @escaping (BluetoothError?) -> Void
  ) {
    records[link.handle]?.wanted = wanted
    switch ParameterStep.first(from: records[link.handle]?.parameters, to: wanted) {
    case .subrate: subrate(link, to: wanted, done)
    case .update:
      update(link, to: wanted) { [weak self] error in
        guard let self, error == nil, let record = records[link.handle], links[link.handle] === link else {
          return done(error)
        }
        // A newer request brings the link to what it wants.
        guard record.wanted == wanted, ParameterStep.next(after: record.parameters, to: wanted) == .subrate else {
          return done(nil)
        }
        subrate(link, to: wanted, done)
      }
    }
  }

  /// Asks for another subrate: as central the controller decides, as peripheral that of the device does (Core 5.4, Vol
  /// 6, Part B, 5.1.19 and 5.1.20).
  private func subrate(
    _ link: KernelLink, to wanted: ConnectionParameters, _ done: @escaping (BluetoothError?) -> Void
  ) {
    if let lacking = lacking(.subrating, "connection subrating", on: link) { return later(done, lacking) }
    let command = LESubrateRequest {
      $0.handle = link.handle
      $0.subrateMin = UInt16(clamping: wanted.subrate.lowerBound)
      $0.subrateMax = UInt16(clamping: wanted.subrate.upperBound)
      $0.maximumLatency = UInt16(clamping: wanted.latency)
      $0.continuationNumber = UInt16(clamping: wanted.continuation)
      $0.supervisionTimeout = TimeUnits.supervision(wanted.supervisionTimeout)
    }
    request(.subrate, CommandPacket(command), on: link, done) { status in
      switch status.code {
      case .unknownHCICommand, .unsupportedRemoteFeature:
        GAPError.notSupported.error("\(link.peer) does not have connection subrating.")
      default: status.error("The connection's subrating stays as it is")
      }
    }
  }
}
