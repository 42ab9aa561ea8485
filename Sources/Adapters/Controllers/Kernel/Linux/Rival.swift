import Adapter
import Glibc

/// Another program that claims the machine's adapters: bluetoothd.
///
/// It claims every controller of the kernel, and cannot be configured to leave one out: it switches each on when it
/// starts and off when it ends, loads its keys, and listens on channel 4, where the kernel offers each link to the
/// latest listener. It does nothing else with an unused controller, so a second one can be bled's.
enum Rival {
  /// The id of a root process named bluetoothd, if one is visible. Any user may give a program that name; a root
  /// process with it, or of systemd's bluetooth.service, is bluetoothd.
  /// - Parameter folder: the kernel's folder of processes (proc(5)).
  static func process(in folder: String = "/proc") -> Int? {
    Folder.names(in: folder).lazy.compactMap { Int($0) }.first {
      let process = "\(folder)/\($0)"
      return lines(of: "\(process)/comm").first == "bluetoothd" && (isRoots(process) || isService(process))
    }
  }

  /// True if all four user ids of a process are root's: an effective id of root alone may belong to a setuid program,
  /// which any user can start under any name.
  private static func isRoots(_ process: String) -> Bool {
    guard let line = lines(of: "\(process)/status").first(where: { $0.hasPrefix("Uid:") }) else { return false }
    let ids = line.split { $0 == " " || $0 == "\t" }.dropFirst()
    return ids.count == 4 && ids.allSatisfy { $0 == "0" }
  }

  private static func isService(_ process: String) -> Bool {
    lines(of: "\(process)/cgroup").contains { $0.hasSuffix(":/system.slice/bluetooth.service") }
  }

  /// The problem that this process uses the adapter.
  static func problem(with adapter: String, _ process: Int) -> AdapterProblem {
    AdapterProblem(
      kind: .inUse, message: "bluetoothd (pid \(process)) holds \(adapter): an adapter can have only one owner",
      remedy: "stop it with `systemctl stop bluetooth`, or name an adapter of bled's own (docs/deployment.md)")
  }

  /// The lines at the beginning of a file, 4 KiB at most; none if it cannot be read.
  private static func lines(of path: String) -> [Substring] {
    guard let file = fopen(path, "re") else { return [] }
    defer { fclose(file) }
    var octets = [UInt8](repeating: 0, count: 4096)
    let count = fread(&octets, 1, octets.count, file)
    return String(decoding: octets[..<count], as: UTF8.self).split(separator: "\n")
  }
}
