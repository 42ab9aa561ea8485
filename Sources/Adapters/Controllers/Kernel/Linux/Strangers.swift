import Adapter
import Glibc

/// The users that have L2CAP sockets: any user may have some, and one of them may listen on channel 4, where the kernel
/// offers each link to the latest listener.
enum Strangers {
  /// The users, in ascending order, except this process's own.
  /// - Parameter file: the kernel's list of L2CAP sockets, with the user in the fifth column.
  static func users(in file: String = "/proc/net/l2cap") -> [UInt32] {
    guard let list = fopen(file, "re") else { return [] }
    defer { fclose(list) }
    var octets = [UInt8](repeating: 0, count: 64 << 10)
    let count = fread(&octets, 1, octets.count, list)
    let lines = String(decoding: octets[..<count], as: UTF8.self).split(separator: "\n").dropFirst()
    let users = lines.compactMap { line -> UInt32? in
      let columns = line.split(separator: " ")
      return columns.count > 4 ? UInt32(columns[4]) : nil
    }
    return Set(users).subtracting([geteuid()]).sorted()
  }
}
