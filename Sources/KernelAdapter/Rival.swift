import Adapter
import Glibc

/// Another program that takes the machine's adapters: bluetoothd.
///
/// It takes every controller that the kernel has, and cannot be told to leave one: it switches it on when it starts and
/// off when it ends, loads its keys, and listens on channel 4, where the kernel offers each link to whoever began to
/// listen last. With one that nobody asks it to use it does nothing else, so a second controller can be bled's.
enum Rival {
  /// The id of a process named bluetoothd, if one runs where we can see it.
  static func process() -> Int? {
    Folder.names(in: "/proc").lazy.compactMap { Int($0) }.first { command(of: $0) == "bluetoothd" }
  }

  /// The problem that it uses the adapter; nil if it does not run.
  static func problem(with adapter: String) -> AdapterProblem? {
    process().map { number in
      AdapterProblem(
        kind: .inUse, message: "bluetoothd (pid \(number)) holds \(adapter): an adapter can have only one owner.",
        remedy: "Stop it with `systemctl stop bluetooth`, or name an adapter of bled's own (docs/deployment.md).")
    }
  }

  private static func command(of process: Int) -> String? {
    guard let file = fopen("/proc/\(process)/comm", "re") else { return nil }
    defer { fclose(file) }
    var buffer = [CChar](repeating: 0, count: 32)
    guard fgets(&buffer, Int32(buffer.count), file) != nil else { return nil }
    let octets = buffer.prefix { $0 != 0 && $0 != 10 }.map { UInt8(bitPattern: $0) }
    return String(decoding: octets, as: UTF8.self)
  }
}
