import Glibc

/// A serial line that this process alone uses: eight bits without parity.
///
/// With flow control the controller signals by CTS when it accepts octets; without it controllers lose some. Three-wire
/// boards have no such lines, and on others RTS resets the chip or starts its boot loader.
struct SerialLine {
  let descriptor: Descriptor
  private let hasFlowControl: Bool

  /// Opens a line. Octets that were on their way to another program are dropped.
  /// - Parameter speed: in Bd.
  init(_ path: String, _ speed: UInt32, hasFlowControl: Bool) throws(SystemError) {
    guard let speed = SerialSpeed(speed) else { throw SystemError(result: -EINVAL) }
    let number = open(path, O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC)
    guard number >= 0 else { throw Self.lastError }
    guard flock(number, LOCK_EX | LOCK_NB) == 0 else {
      _ = close(number)
      throw SystemError(result: -EBUSY)
    }
    // Octets that the line does not accept are dropped: closing it would wait for them, for up to 30 s. The line is
    // ours by now: those of another program are left alone.
    descriptor = Descriptor(number) { number in
      _ = tcflush(number, TCIOFLUSH)
      _ = ioctl(number, UInt(TIOCNXCL))
      _ = close(number)
    }
    self.hasFlowControl = hasFlowControl
    // Some programs probe each new line for a modem without locking it, and would write to the controller.
    _ = ioctl(number, UInt(TIOCEXCL))
    var settings = termios()
    guard tcgetattr(number, &settings) == 0 else { throw Self.lastError }
    cfmakeraw(&settings)
    settings.c_cflag |= tcflag_t(CLOCAL) | tcflag_t(CREAD)
    if hasFlowControl { settings.c_cflag |= tcflag_t(CRTSCTS) } else { settings.c_cflag &= ~tcflag_t(CRTSCTS) }
    cfsetispeed(&settings, speed.constant)
    cfsetospeed(&settings, speed.constant)
    guard tcsetattr(number, TCSANOW, &settings) == 0 else { throw Self.lastError }
    _ = tcflush(number, TCIOFLUSH)
  }

  /// The known reason for silence; nil if there is none.
  var obstacle: String? {
    var lines: Int32 = 0
    guard descriptor.isOpen, ioctl(descriptor.number, UInt(TIOCMGET), &lines) == 0 else { return nil }
    return Self.obstacle(lines, hasFlowControl: hasFlowControl)
  }

  /// - Parameter lines: the states of its control lines (TIOCMGET).
  static func obstacle(_ lines: Int32, hasFlowControl: Bool) -> String? {
    guard hasFlowControl, lines & Int32(TIOCM_CTS) == 0 else { return nil }
    return "CTS of its line is off: connect RTS and CTS, or add \",noflow\" to its name if it has none"
  }

  private static var lastError: SystemError { SystemError(result: -errno) }
}
