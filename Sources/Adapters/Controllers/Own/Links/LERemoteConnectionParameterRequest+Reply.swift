import Bluetooth
import HCI
import Host

extension LERemoteConnectionParameterRequest {
  /// The command that accepts the granted parameters, or refuses them.
  func reply(by policy: ParameterPolicy) -> CommandPacket {
    let asked = ParameterUpdate([intervalMin, intervalMax, latency, supervisionTimeout])
    guard let asked, let granted = policy.granted(asked) else {
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
