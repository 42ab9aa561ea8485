import HCI
import Host

extension LERemoteConnectionParameterRequest {
  /// The command that accepts the parameters, or refuses ones that the specification does not allow.
  var reply: CommandPacket {
    guard ParameterUpdate([intervalMin, intervalMax, latency, supervisionTimeout]) != nil else {
      return CommandPacket(
        LERemoteConnectionParameterRequestNegativeReply {
          $0.handle = handle
          $0.reason = HCIStatus(.unacceptableConnectionParameters)
        })
    }
    return CommandPacket(
      LERemoteConnectionParameterRequestReply {
        $0.handle = handle
        ($0.intervalMin, $0.intervalMax) = (intervalMin, intervalMax)
        ($0.latency, $0.supervisionTimeout) = (latency, supervisionTimeout)
      })
  }
}
