import Glibc

/// Kernel bugs that are worked around.
enum KernelFault {
  /// Whether the kernel uses freed memory when the last socket of a link is closed after the link's end and nothing was
  /// ever received on it (docs/deployment.md): true for the 6.1 series, of which some do.
  static let endsWithSilentLinks = release.hasPrefix("6.1.")

  private static var release: String {
    var name = utsname()
    guard uname(&name) == 0 else { return "" }
    return withUnsafeBytes(of: name.release) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
  }
}
