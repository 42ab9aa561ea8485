import Adapter
import AdapterParts
import Glibc

extension AdapterState {
  /// The state of an adapter whose transport cannot be opened.
  /// - Parameters:
  ///   - error: why.
  ///   - name: the adapter's.
  init(_ error: SystemError, _ name: String) {
    switch error.code {
    case ENOENT, ENXIO, ENODEV, ECONNREFUSED, EHOSTUNREACH, ENETUNREACH, ETIMEDOUT: self = .absent
    case EACCES, EPERM:
      self = .failed(
        AdapterProblem(
          kind: .permission, message: "\(name) may not be opened",
          remedy: "give bled's user access: for a serial line, the group of the device, mostly dialout"))
    case EBUSY:
      self = .failed(
        AdapterProblem(
          kind: .inUse, message: "\(name) is used by another program", remedy: "end that program"))
    case ENOTTY:
      self = .failed(
        AdapterProblem(
          kind: .unsupported, message: "\(name) is no serial line", remedy: "give one such as /dev/ttyACM0"))
    default:
      self = .failed(
        AdapterProblem(
          kind: .hardware, message: "\(name) cannot be opened: \(H4Stream.words(error))",
          remedy: "check the transport of the controller"))
    }
  }
}
