import Adapter
import Glibc

/// Another program that owns the machine's adapters: bluetoothd.
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
        remedy: "Stop it with `systemctl stop bluetooth`.")
    }
  }

  /// The problem that another program holds the ATT channel of the adapter.
  static func channelHeld(on adapter: String) -> AdapterProblem {
    problem(with: adapter)
      ?? AdapterProblem(
        kind: .inUse,
        message: "Another program holds the ATT channel of \(adapter); most likely bluetoothd in another container.",
        remedy: "Stop it with `systemctl stop bluetooth` on the host.")
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
