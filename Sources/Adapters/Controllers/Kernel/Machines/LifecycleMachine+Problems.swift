import Adapter
import Bluetooth
import HCI

extension LifecycleMachine {
  /// The problem that an mgmt status means for the adapter.
  /// - Parameters:
  ///   - name: the adapter's.
  ///   - what: the failed action: "be switched on".
  static func problem(_ status: ManagementStatus, _ name: String, _ what: String) -> AdapterProblem {
    switch status {
    case .permissionDenied:
      AdapterProblem(
        kind: .permission, message: "bled may not set up \(name): it lacks the capability CAP_NET_ADMIN",
        remedy: "start it through its systemd unit, as root, or with CAP_NET_ADMIN and CAP_NET_RAW")
    case .rfkilled:
      AdapterProblem(
        kind: .blocked, message: "\(name) is blocked by rfkill",
        remedy: "run `rfkill unblock bluetooth`; `rfkill list` shows whether a hardware switch blocks it")
    default:
      AdapterProblem(
        kind: .hardware, message: "\(name) could not \(what): \(status)",
        remedy: "unplug it and plug it back in, or check the kernel log with `dmesg`")
    }
  }

  /// The error of calls while the adapter has a problem.
  static func failed(_ problem: AdapterProblem) -> BluetoothError {
    GAPError.adapterFailed.error(problem.text)
  }

  /// The error of links when the system goes to sleep.
  static let suspended = GAPError.adapterOff.error("the adapter was suspended")

  /// The error of links when the power is switched off.
  static let off = GAPError.adapterOff.error("the adapter was switched off")
}
