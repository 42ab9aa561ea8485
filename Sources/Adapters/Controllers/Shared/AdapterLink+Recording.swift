import Adapter
import Bluetooth
import HCI

extension AdapterLink {
  /// The link at the beginning of a recording.
  var packetsOfPresence: [MonitorPacket] {
    var present = PresentLink(handle, to: peer, isCentral: role == .central)
    if let parameters {
      present.interval = parameters.interval
      present.latency = parameters.latency
      present.supervisionTimeout = parameters.supervisionTimeout
    }
    present.isEncrypted = security.level > 1
    return present.packets
  }
}
