import Glibc

/// A terminal for another program, such as picocom: its output is read from `descriptor`, and the reverse.
/// Deinitialization removes it.
final class PseudoTerminal: Sendable {
  /// This side of it, which does not block.
  let descriptor: Int32
  /// The device file of the other side.
  let path: String
  /// Held open, so that the other side can be closed and opened again.
  private let other: Int32
  private let link: String?
  /// TIOCSPTLCK and TIOCGPTN, which Swift does not import; unlockpt and ptsname use them.
  private static let setLock: UInt = 0x4004_5431
  private static let getNumber: UInt = 0x8004_5430

  /// - Parameter link: The path of a symbolic link to the device file; a dangling link is replaced.
  /// - Throws: `Failure` if the system refuses.
  init(link: String?) throws(Failure) {
    let descriptor = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK)
    var (number, locked) = (CUnsignedInt(0), CInt(0))
    guard descriptor >= 0, ioctl(descriptor, Self.setLock, &locked) == 0,
      ioctl(descriptor, Self.getNumber, &number) == 0
    else {
      let failure = Self.failure("a pseudo-terminal")
      if descriptor >= 0 { close(descriptor) }
      throw failure
    }
    path = "/dev/pts/\(number)"
    other = open(path, O_RDWR | O_NOCTTY | O_CLOEXEC)
    self.descriptor = descriptor
    self.link = link
    var modes = termios()
    if tcgetattr(other, &modes) == 0 {
      // Octets pass unchanged, and nothing is echoed.
      cfmakeraw(&modes)
      tcsetattr(other, TCSANOW, &modes)
    }
    guard let link else { return }
    if access(link, F_OK) != 0 { unlink(link) }
    guard symlink(path, link) == 0 else {
      let failure = Self.failure(link)
      for end in [other, descriptor] { close(end) }
      throw failure
    }
  }

  deinit {
    if let link { unlink(link) }
    close(other)
    close(descriptor)
  }

  private static func failure(_ what: String) -> Failure { Failure("\(what): \(String(cString: strerror(errno)))") }
}
