import Dispatch
import Glibc

/// Ctrl-C: as long as one of these lives, the newest is asked instead of the process ending. When a command was told once
/// and goes on, the second Ctrl-C ends the process.
@MainActor final class Interrupt {
  private static var living: [Interrupt] = []
  private static var source: (any DispatchSourceSignal)?

  private let action: @MainActor () -> Void

  init(_ action: @escaping @MainActor () -> Void) {
    self.action = action
    Self.living.append(self)
    signal(SIGINT, SIG_IGN)
    if Self.source == nil {
      let source = DispatchSource.makeSignalSource(signal: SIGINT, queue: .main)
      source.setEventHandler { MainActor.assumeIsolated { Self.interrupted() } }
      source.resume()
      Self.source = source
    }
  }

  /// To be called once.
  func end() {
    Self.living.removeAll { $0 === self }
    signal(SIGINT, Self.living.isEmpty ? SIG_DFL : SIG_IGN)
  }

  private static func interrupted() {
    guard let newest = living.last else { return }
    signal(SIGINT, SIG_DFL)
    newest.action()
  }
}
