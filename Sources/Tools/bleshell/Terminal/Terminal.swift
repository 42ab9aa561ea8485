import Dispatch
import Glibc

/// The terminal while its keys are read one by one, rather than as lines: `begin`, then `end`. Any end of the process
/// meanwhile, except by SIGKILL, restores it.
@MainActor final class Terminal {
  /// The time for which an Escape waits for the rest of a control sequence.
  private static let escapeTime = Duration.milliseconds(40)

  private let key: @MainActor (Key) -> Void
  private let hungUp: @MainActor () -> Void
  private let resized: @MainActor () -> Void
  private let usesScreen: Bool
  private var decoder = KeyDecoder()
  private var input: (any DispatchSourceRead)?
  private var size: (any DispatchSourceSignal)?
  private var goingOn: (any DispatchSourceSignal)?
  private var lastOctet = ContinuousClock.now

  /// - Parameters:
  ///   - screen: True to use the whole screen; its earlier contents are restored at the end.
  ///   - key: Called for each key.
  ///   - hungUp: Called at the end of keys, when the terminal is closed.
  ///   - resized: Called when the size has changed.
  init(
    screen: Bool, key: @escaping @MainActor (Key) -> Void, hungUp: @escaping @MainActor () -> Void,
    resized: @escaping @MainActor () -> Void
  ) {
    (usesScreen, self.key, self.hungUp, self.resized) = (screen, key, hungUp, resized)
  }

  /// True while keys are read.
  var isReading: Bool { input != nil }

  /// Begins to read keys.
  /// - Returns: False if standard input is not a terminal.
  @discardableResult func begin() -> Bool {
    guard input == nil, TerminalModes.enter(screen: usesScreen) else { return false }
    let input = DispatchSource.makeReadSource(fileDescriptor: STDIN_FILENO, queue: .main)
    input.setEventHandler { [weak self] in MainActor.assumeIsolated { self?.read() } }
    input.resume()
    self.input = input
    // The default action of this signal is nothing, so the source works without a handler.
    let size = DispatchSource.makeSignalSource(signal: SIGWINCH, queue: .main)
    size.setEventHandler { [weak self] in MainActor.assumeIsolated { self?.resized() } }
    size.resume()
    self.size = size
    // Likewise for this signal: the process continues before it could be handled.
    let goingOn = DispatchSource.makeSignalSource(signal: SIGCONT, queue: .main)
    goingOn.setEventHandler { [weak self] in
      MainActor.assumeIsolated {
        TerminalModes.enterAgain()
        self?.resized()
      }
    }
    goingOn.resume()
    self.goingOn = goingOn
    return true
  }

  /// Gives the terminal back.
  func end() {
    guard isReading else { return }
    input?.cancel()
    size?.cancel()
    goingOn?.cancel()
    (input, size, goingOn) = (nil, nil, nil)
    TerminalModes.leave()
  }

  /// Stops the process as Ctrl-Z does, until it is continued.
  func suspend() {
    // The group of a session's leader would not be continued.
    guard isReading, getpgrp() != getsid(0) else { return }
    TerminalModes.leave()
    // Not SIGTSTP, which Dispatch's threads block: this thread would continue, and change the modes, before the group
    // stops.
    kill(0, SIGSTOP)
    TerminalModes.enter(screen: usesScreen)
    resized()
  }

  /// Reads octet by octet: the input after the last key is for the next reader.
  private func read() {
    for _ in 0..<256 {
      guard isReading else { return }
      var waiting = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
      guard poll(&waiting, 1, 0) > 0 else { break }
      var octet: UInt8 = 0
      let count = Glibc.read(STDIN_FILENO, &octet, 1)
      if count < 0, errno == EINTR || errno == EAGAIN { break }
      guard count > 0 else { return hungUp() }
      lastOctet = .now
      if let found = decoder.handle(octet) { key(found) }
    }
    if decoder.isWaiting { finishLater() }
  }

  private func finishLater() {
    Task {
      try? await Task.sleep(for: Self.escapeTime)
      guard decoder.isWaiting, ContinuousClock.now - lastOctet >= Self.escapeTime else { return }
      if let found = decoder.finish(), isReading { key(found) }
    }
  }
}
