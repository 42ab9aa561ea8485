import Adapter
import EventLoop

extension AdapterProblem {
  /// The kernel lacks Bluetooth, or this process's network namespace does.
  static func noBluetooth(_ error: SystemError) -> AdapterProblem {
    AdapterProblem(
      kind: .unsupported, message: "the kernel has no Bluetooth here (errno \(error.code))",
      remedy: "load it with `modprobe bluetooth`; in a container, use the host's network namespace")
  }
}
