import FoundationEssentials
import Glibc
import TestSupport

/// `bleshell` on a pseudo-terminal: its output is read all the time, and keys are typed.
final class TerminalProcess {
  private let process: ChildProcess
  private let master: CInt
  /// The modes of the terminal before the process began.
  private let modes: [UInt32]
  private(set) var output = ""
  private var octets: [UInt8] = []

  /// - Parameters:
  ///   - environment: Besides the socket's; no colours by default.
  ///   - size: Columns and rows.
  init(
    _ daemon: DaemonProcess, _ arguments: [String] = [], environment: [String: String] = [:],
    size: (columns: UInt16, rows: UInt16) = (80, 24)
  ) throws {
    master = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK)
    var (number, unlocked) = (CUnsignedInt(0), CInt(0))
    // TIOCSPTLCK and TIOCGPTN, which Swift does not import, in place of unlockpt and ptsname.
    guard master >= 0, ioctl(master, 0x4004_5431, &unlocked) == 0, ioctl(master, 0x8004_5430, &number) == 0 else {
      throw ChildProcess.Failure(description: "no pseudo-terminal: \(errno)")
    }
    let path = "/dev/pts/\(number)"
    // Without an open terminal its modes are not kept.
    let slave = open(path, O_RDWR | O_NOCTTY | O_CLOEXEC)
    defer { close(slave) }
    Self.setSize(master, size)
    modes = Self.modes(of: master)
    let variables = [
      "BLED_SOCKET": daemon.socketPath, "TERM": "xterm", "NO_COLOR": "1", "XDG_STATE_HOME": daemon.folder.path,
    ].merging(environment) { _, new in new }
    process = try ChildProcess(
      "bleshell", arguments, environment: variables, terminal: path, folder: daemon.folder)
  }

  deinit { close(master) }

  var pid: pid_t { process.pid }

  /// Types keys.
  func type(_ text: String) { type(Array(text.utf8)) }

  func type(_ keys: [UInt8]) {
    let end = Patience.end
    var rest = keys[...]
    while !rest.isEmpty, ContinuousClock.now < end {
      let count = rest.withUnsafeBytes { write(master, $0.baseAddress, $0.count) }
      if count > 0 { rest = rest.dropFirst(count) } else if !read(within: 100), process.hasEnded { return }
    }
  }

  /// Forgets the output so far.
  func forget() {
    octets = []
    output = ""
  }

  /// Waits until a text was written since the beginning, or since `forget`.
  func wait(for text: String) throws {
    let end = Patience.end
    while !output.contains(text) {
      guard ContinuousClock.now < end, !process.hasEnded || read(within: 0) else {
        throw ChildProcess.Failure(description: "\(text.debugDescription) was not written: \(output.debugDescription)")
      }
      _ = read(within: 100)
    }
  }

  /// Reads the available output.
  func read() { while read(within: 0) {} }

  /// Reads the available output, and the first output within this number of milliseconds.
  func read(for milliseconds: CInt) {
    _ = read(within: milliseconds)
    read()
  }

  /// Waits for the end of the process.
  func exitStatus() throws -> Int32 {
    let end = Patience.end
    while !process.hasEnded, ContinuousClock.now < end { _ = read(within: 20) }
    read()
    guard process.hasEnded else {
      throw ChildProcess.Failure(description: "process \(pid) did not end: \(output.suffix(2000).debugDescription)")
    }
    return try process.exitStatus()
  }

  func send(signal: CInt) { process.send(signal: signal) }

  func resize(_ columns: UInt16, _ rows: UInt16) { Self.setSize(master, (columns, rows)) }

  /// True if the terminal is in its original state: its modes, the cursor, the screen and the wrapping of lines.
  var isSane: Bool {
    func last(_ on: String, _ off: String) -> Bool {
      let (on, off) = (output.ranges(of: on).last, output.ranges(of: off).last)
      return off.map { off in on.map { $0.lowerBound > off.lowerBound } ?? false } ?? true
    }
    return Self.modes(of: master) == modes && last("\u{1B}[?1049l", "\u{1B}[?1049h")
      && last("\u{1B}[?25h", "\u{1B}[?25l") && last("\u{1B}[?7h", "\u{1B}[?7l")
  }

  /// True if its modes alone are the original ones.
  var hasModesOfBefore: Bool { Self.modes(of: master) == modes }

  /// Restores its original modes, as a shell does that has the terminal again.
  func makeSane() {
    var now = termios()
    tcgetattr(master, &now)
    (now.c_iflag, now.c_oflag, now.c_cflag, now.c_lflag) = (modes[0], modes[1], modes[2], modes[3])
    tcsetattr(master, TCSANOW, &now)
  }

  private static func modes(of terminal: CInt) -> [UInt32] {
    var modes = termios()
    tcgetattr(terminal, &modes)
    return [modes.c_iflag, modes.c_oflag, modes.c_cflag, modes.c_lflag]
  }

  private static func setSize(_ terminal: CInt, _ size: (columns: UInt16, rows: UInt16)) {
    var size = winsize(ws_row: size.rows, ws_col: size.columns, ws_xpixel: 0, ws_ypixel: 0)
    _ = ioctl(terminal, UInt(TIOCSWINSZ), &size)
  }

  /// - Returns: True if there was something.
  private func read(within milliseconds: CInt) -> Bool {
    var waiting = pollfd(fd: master, events: Int16(POLLIN), revents: 0)
    guard poll(&waiting, 1, milliseconds) == 1 else { return false }
    var chunk = [UInt8](repeating: 0, count: 65_536)
    let count = Glibc.read(master, &chunk, chunk.count)
    guard count > 0 else {
      // The other end is not open.
      sched_yield()
      return false
    }
    octets += chunk[..<count]
    output = String(decoding: octets, as: UTF8.self)
    return true
  }
}
