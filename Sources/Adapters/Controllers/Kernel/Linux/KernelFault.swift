import CBlueZ
import Glibc

/// Kernel bugs that are worked around.
enum KernelFault {
  /// True if the kernel uses freed memory when the last socket of a link, on which nothing was ever received, is closed
  /// after the link's end (docs/troubles.md): set for the 6.1 series, some of which do.
  static let endsWithSilentLinks = release.hasPrefix("6.1.")

  /// True if the kernel gives a device credits for unread packets of a channel, and drops them when it runs out of room
  /// (before 6.10).
  static let givesCreditsUnread = isBefore(6, 10)

  /// Sets the receive buffer of a channel.
  static func setReceiveBuffer(of channel: Descriptor) {
    // Such kernels give credits for unread packets; this is the room until they drop them.
    if givesCreditsUnread { _ = cbz_set_receive_buffer(channel.number, 1 << 20) }
  }

  private static func isBefore(_ major: Int, _ minor: Int) -> Bool {
    let numbers = release.split(separator: ".").prefix(2).compactMap { Int($0) }
    return numbers.count == 2 && numbers.lexicographicallyPrecedes([major, minor])
  }

  private static var release: String {
    var name = utsname()
    guard uname(&name) == 0 else { return "" }
    return withUnsafeBytes(of: name.release) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
  }
}
