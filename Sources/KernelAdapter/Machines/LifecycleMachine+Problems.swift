import Adapter
import Bluetooth
import HCI

extension LifecycleMachine {
  /// What a status of the kernel means for the adapter.
  /// - Parameters:
  ///   - name: the adapter's.
  ///   - what: what it could not do: "be switched on".
  static func problem(_ status: ManagementStatus, _ name: String, _ what: String) -> AdapterProblem {
    switch status {
    case .permissionDenied:
      AdapterProblem(
        kind: .permission, message: "bled may not set up \(name): it lacks the capability CAP_NET_ADMIN.",
        remedy: "Start it through its systemd unit, as root, or with CAP_NET_ADMIN and CAP_NET_RAW.")
    case .rfkilled:
      AdapterProblem(
        kind: .blocked, message: "\(name) is blocked by rfkill.",
        remedy: "Run `rfkill unblock bluetooth`; `rfkill list` tells whether a switch of the machine blocks it.")
    default:
      AdapterProblem(
        kind: .hardware, message: "\(name) could not \(what) (mgmt status \(status.rawValue)).",
        remedy: "Plug it out and in, or look into the kernel's log with `dmesg`.")
    }
  }

  /// What calls are refused with while the adapter has a problem.
  static func failed(_ problem: AdapterProblem) -> BluetoothError {
    GAPError.adapterFailed.error("\(problem.message) \(problem.remedy)")
  }

  /// What links end with when the power goes.
  static let off = GAPError.adapterOff.error("The adapter was switched off.")
}
