import Bluetooth
import FoundationEssentials
import Glibc
import NIOCore

extension BledClient {
  /// Where the daemon listens: the environment's BLED_SOCKET, else /run/bled/bled.sock.
  public static var defaultSocketPath: String {
    ProcessInfo.processInfo.environment["BLED_SOCKET"].flatMap { $0.isEmpty ? nil : $0 } ?? "/run/bled/bled.sock"
  }
}

/// Why the daemon could not be reached, and what to do.
func unreachable(_ path: String, _ error: any Error) -> BluetoothError {
  let start = """
    Start it with "systemctl start bled.socket", or by hand: bled --adapter hci0 --socket \(path) \
    (without an adapter at hand: --adapter simulated).
    """
  switch (error as? IOError)?.errnoCode {
  case ENOENT, ENOTDIR:
    return BledError.daemonUnreachable.error("bled is not running: there is no socket \(path). \(start)")
  case ECONNREFUSED:
    return BledError.daemonUnreachable.error("bled is not running: nobody listens on \(path). \(start)")
  case EACCES, EPERM:
    return BledError.notPermitted.error(
      """
      no permission to use the socket \(path). Members of its group may (see "ls -l \(path)"): \
      "sudo usermod -aG bluetooth $USER", then log in again; or use sudo.
      """)
  default:
    return BledError.daemonUnreachable.error("bled cannot be reached at \(path): \(error)")
  }
}
