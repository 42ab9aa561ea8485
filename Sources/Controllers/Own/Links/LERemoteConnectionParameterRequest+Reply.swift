import Bluetooth
import HCI
import Host

extension LERemoteConnectionParameterRequest {
  /// The command that accepts the parameters as far as they are granted, or refuses them.
  /// - Parameter longest: the longest time between two events at which the device listens; nil: any.
  func reply(within longest: Duration?) -> CommandPacket {
    let asked = ParameterUpdate([intervalMin, intervalMax, latency, supervisionTimeout])
    guard let asked, let granted = longest.map(asked.limited) ?? asked else {
      return CommandPacket(
        LERemoteConnectionParameterRequestNegativeReply {
          $0.handle = handle
          $0.reason = HCIStatus(.unacceptableConnectionParameters)
        })
    }
    return CommandPacket(
      LERemoteConnectionParameterRequestReply {
        $0.handle = handle
        ($0.intervalMin, $0.intervalMax) = (granted.intervalMin, granted.intervalMax)
        ($0.latency, $0.supervisionTimeout) = (granted.latency, granted.timeout)
      })
  }
}
