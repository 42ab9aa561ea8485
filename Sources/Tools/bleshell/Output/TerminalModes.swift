import Glibc
import Synchronization

/// The terminal modes changed by bleshell, and the original ones. There is one terminal, and a signal handler has to be
/// able to restore it: it finds its data here.
enum TerminalModes {
  private static let isEntered = Atomic(false)
  private static let usesScreen = Atomic(false)
  /// The original settings. Written before `isEntered` is set, and read after that.
  nonisolated(unsafe) private static let former = {
    let modes = UnsafeMutablePointer<termios>.allocate(capacity: 1)
    modes.initialize(to: termios())
    return modes
  }()
  /// The alternate screen, without the cursor and without wrapping.
  private static let screenOn: StaticString = "\u{1B}[?1049h\u{1B}[?25l\u{1B}[?7l"
  private static let screenOff: StaticString = "\u{1B}[?7h\u{1B}[?25h\u{1B}[?1049l"

  /// Signals that end the process, including a trap's. Each restores the terminal first.
  private static let restoresAtSignals: Void = {
    for number in [SIGTERM, SIGHUP, SIGQUIT, SIGABRT, SIGILL, SIGTRAP, SIGSEGV, SIGBUS, SIGFPE] {
      signal(number) { number in
        TerminalModes.leave()
        signal(number, SIG_DFL)
        raise(number)
      }
    }
    atexit { TerminalModes.leave() }
  }()

  /// True while a screen of our own is shown, on which no other code may write.
  static var hasScreen: Bool { isEntered.load(ordering: .acquiring) && usesScreen.load(ordering: .acquiring) }

  /// Delivers keys at once, without an echo and without signals.
  /// - Parameter screen: True to switch to a screen of our own.
  /// - Returns: False if standard input is not a terminal.
  @discardableResult static func enter(screen: Bool) -> Bool {
    guard !isEntered.load(ordering: .acquiring), tcgetattr(STDIN_FILENO, former) == 0 else { return false }
    _ = restoresAtSignals
    usesScreen.store(screen, ordering: .releasing)
    isEntered.store(true, ordering: .releasing)
    set()
    return true
  }

  /// Sets the modes again: another process may have changed them while this one was stopped.
  static func enterAgain() {
    // In the background the process would be stopped for that.
    guard isEntered.load(ordering: .acquiring), tcgetpgrp(STDIN_FILENO) == getpgrp() else { return }
    set()
  }

  private static func set() {
    var modes = former.pointee
    modes.c_lflag &= ~tcflag_t(ICANON | ECHO | ISIG | IEXTEN)
    modes.c_iflag &= ~tcflag_t(IXON)
    withUnsafeMutableBytes(of: &modes.c_cc) { characters in
      characters[Int(VMIN)] = 1
      characters[Int(VTIME)] = 0
    }
    tcsetattr(STDIN_FILENO, TCSADRAIN, &modes)
    if usesScreen.load(ordering: .acquiring) {
      write(STDOUT_FILENO, screenOn.utf8Start, screenOn.utf8CodeUnitCount)
    }
  }

  /// Restores the modes that `enter` changed; calls nothing that a signal handler may not.
  static func leave() {
    guard isEntered.exchange(false, ordering: .acquiringAndReleasing) else { return }
    if usesScreen.load(ordering: .acquiring) {
      write(STDOUT_FILENO, screenOff.utf8Start, screenOff.utf8CodeUnitCount)
    }
    // Not TCSADRAIN, which waits for ever if the terminal's output is not read.
    tcsetattr(STDIN_FILENO, TCSANOW, former)
  }
}
