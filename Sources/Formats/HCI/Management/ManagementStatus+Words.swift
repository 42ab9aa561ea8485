import Bluetooth

extension ManagementStatus: CustomStringConvertible {
  /// The status as words, for people (mgmt-api, Error codes): "the kernel is busy with another request".
  package var description: String {
    switch rawValue {
    case 0x00: "it succeeded"
    case 0x01: "the kernel does not know the command"
    case 0x02: "the device is not connected"
    case 0x03: "the controller or the kernel failed"
    case 0x04: "the connection failed"
    case 0x05: "the authentication failed, or one side refused"
    case 0x06: "the device is not paired"
    case 0x07: "the kernel has no resources left"
    case 0x08: "it took too long"
    case 0x09: "the device is connected already"
    case 0x0A: "the kernel is busy with another request"
    case 0x0B: "the kernel or the controller rejected it"
    case 0x0C: "the kernel or the controller does not support it"
    case 0x0D: "the kernel finds the parameters invalid"
    case 0x0E: "the link ended"
    case 0x0F: "the controller has no power"
    case 0x10: "it was cancelled"
    case 0x11: "the kernel has no such controller"
    case 0x12: "rfkill blocks the controller"
    case 0x13: "the device is paired already"
    case 0x14: "bled lacks the capability CAP_NET_ADMIN"
    default: "the kernel gave the unknown mgmt status 0x\(Hex.encode([rawValue]))"
    }
  }
}
