import BledClient
import BledRPC
import ValueFormats

/// A scan on a screen of its own.
@MainActor final class ScanView {
  private let output: Output
  /// All received devices, including the ones that the screen no longer shows.
  let table: ScanTable
  private let start = ContinuousClock.now
  private var list = ScanList()
  private var notices = AdapterNotices()
  private var screen: FullScreen?
  private var ended: CheckedContinuation<String?, any Error>?

  private let names: NameList
  private let passes: (ScanReport.Params, ScanReport.Params) -> Bool

  /// - Parameters:
  ///   - names: The names that the user gives devices.
  ///   - passes: Returns true for a report to show: with the user's name, and as it was received.
  init(
    output: Output, names: NameList, passes: @escaping (ScanReport.Params, ScanReport.Params) -> Bool = { _, _ in true }
  ) {
    (self.output, self.names, self.passes) = (output, names, passes)
    table = ScanTable(output: output)
  }

  /// Shows devices until the user ends it.
  /// - Parameter seconds: The maximum time; 0: no limit.
  /// - Returns: The device to connect to; nil: none.
  /// - Throws: The end of the connection to the daemon.
  func run(
    _ reports: AsyncThrowingStream<ScanReport.Params, any Error>, _ client: BledClient, seconds: Double
  ) async throws -> String? {
    let losses = client.notifications(ScanLost.self, buffering: .newest(1024))
    let changes = client.notifications(AdapterChanged.self, buffering: .newest(64))
    let tasks: [Task<Void, any Error>] = [
      Task {
        do {
          for try await report in reports {
            let named = report.named(names)
            if passes(named, report) { received(named) }
          }
          end(.failure(BledError.daemonUnreachable.error("the connection to bled was closed")))
        } catch {
          end(.failure(error))
        }
      },
      Task { for try await lost in losses { change { $0.lost(lost.peripheral, at: now) } } },
      Task {
        for try await adapter in changes {
          _ = notices.changed(adapter)
          screen?.change()
        }
      },
      Task {
        while true {
          try await Task.sleep(for: .seconds(1))
          change { $0.tick(at: now) }
        }
      },
      Task {
        guard seconds > 0 else { return }
        try await Task.sleep(for: .seconds(seconds))
        end(.success(nil))
      },
    ]
    defer { tasks.forEach { $0.cancel() } }
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        ended = continuation
        begin()
        // A cancellation before this point found nothing to end.
        if Task.isCancelled { end(.success(nil)) }
      }
    } onCancel: {
      Task { @MainActor in self.end(.success(nil)) }
    }
  }

  /// Leaves the screen.
  func finish() {
    screen?.end()
    screen = nil
  }

  private var now: Double { (ContinuousClock.now - start) / .seconds(1) }

  private func begin() {
    let screen = FullScreen(
      output: output,
      lines: { [unowned self] columns, rows in
        ScanScreen(columns: columns, rows: rows).lines(list, at: now, notice: notices.problem)
      }, key: { [weak self] in self?.handle($0) }, hungUp: { [weak self] in self?.end(.success(nil)) })
    self.screen = screen
    if !screen.begin() { end(.success(nil)) }
  }

  private func received(_ report: ScanReport.Params) {
    table.add(report)
    change { $0.received(report, at: now) }
  }

  private func change(_ change: (inout ScanList) -> Void) {
    change(&list)
    screen?.change()
  }

  private func handle(_ key: Key) {
    switch list.handle(
      key, page: ScanScreen(columns: 80, rows: Output.terminalSize.rows).page(hasDetail: list.selected != nil))
    {
    case .changed: break
    case .chosen(let peripheral): end(.success(peripheral))
    case .ended: end(.success(nil))
    }
  }

  private func end(_ result: Result<String?, any Error>) {
    screen?.end()
    ended?.resume(with: result)
    ended = nil
  }
}
