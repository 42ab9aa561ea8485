import ArgumentParser
import Dispatch
import Glibc

/// Handles Ctrl-C: while such objects exist, the newest is called instead of ending the process. If it still exists
/// after that, the next Ctrl-C ends the process.
@MainActor final class Interrupt {
  private static var living: [Interrupt] = []
  private static var source: (any DispatchSourceRead)?
  /// The pipe that the signal handler writes to and the source reads from.
  nonisolated private static let pipe: (read: CInt, write: CInt) = {
    var ends: [CInt] = [-1, -1]
    _ = Glibc.pipe(&ends)
    for end in ends {
      _ = fcntl(end, F_SETFL, O_NONBLOCK)
      _ = fcntl(end, F_SETFD, FD_CLOEXEC)
    }
    return (ends[0], ends[1])
  }()

  private let action: @MainActor () -> Void

  init(_ action: @escaping @MainActor () -> Void) {
    self.action = action
    if Self.source == nil {
      let source = DispatchSource.makeReadSource(fileDescriptor: Self.pipe.read, queue: .main)
      source.setEventHandler { MainActor.assumeIsolated { Self.interrupted() } }
      source.resume()
      Self.source = source
    }
    Self.living.append(self)
    Self.listen()
  }

  /// Stops handling; call it once.
  func end() {
    Self.living.removeAll { $0 === self }
    if Self.living.isEmpty { signal(SIGINT, SIG_DFL) } else { Self.listen() }
  }

  /// Installs the handler, which writes to the pipe.
  static func listen() {
    signal(SIGINT) { _ in
      var octet: UInt8 = 0
      _ = write(Interrupt.pipe.write, &octet, 1)
    }
  }

  private static func interrupted() {
    var octets: [UInt8] = [0, 0, 0, 0]
    guard read(pipe.read, &octets, octets.count) > 0, let newest = living.last else { return }
    signal(SIGINT, SIG_DFL)
    newest.action()
  }
}

/// Runs a function for at most this many seconds; 0: no limit.
/// - Parameter begin: When the seconds begin; nil: now.
/// - Returns: Its result, or nil if it was cancelled because the time was over.
func withDeadline<Value: Sendable>(
  _ seconds: Double, from begin: Gate? = nil, _ body: @escaping @Sendable () async throws -> Value
) async throws -> Value? {
  guard seconds > 0 else { return try await body() }
  return try await withThrowingTaskGroup(of: Value?.self) { group in
    group.addTask { try await body() }
    group.addTask {
      try await begin?.pass()
      try await Task.sleep(for: .seconds(seconds))
      return nil
    }
    defer { group.cancelAll() }
    return try await group.next() ?? nil
  }
}

/// Validates `--time`.
func checkTime(_ time: Double?) throws {
  guard time ?? 1 > 0, time ?? 1 <= 1e9 else { throw ValidationError("--time must be more than 0 seconds") }
}

/// Runs functions side by side until one of them ends, and cancels the others.
func untilFirst(of bodies: [@Sendable () async throws -> Void]) async throws {
  try await withThrowingTaskGroup(of: Void.self) { group in
    for body in bodies { group.addTask { try await body() } }
    defer { group.cancelAll() }
    try await group.next()
  }
}
