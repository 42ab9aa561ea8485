import BledRPC
import Bluetooth
import NIOConcurrencyHelpers

extension BledClient {
  /// Scans. The scan stops when the stream is let go, or the task that reads it is cancelled.
  ///
  /// A client has one scan; a new one ends the stream of the one before. If reports are not fetched in time the oldest of
  /// 1024 are dropped.
  /// - Throws: What `scan.start` answers; `GAPError.cancelled`. The stream throws `BledError.daemonUnreachable`.
  public func scan(
    _ parameters: ScanStart.Params = .init()
  ) async throws(BluetoothError) -> AsyncThrowingStream<ScanReport.Params, any Error> {
    let (stream, output) = AsyncThrowingStream.makeStream(of: ScanReport.Params.self, .newest(1024))
    let observation = core.observe(ScanReport.self, value: { output.yield($0) }, end: { output.finish(throwing: $0) })
    let number = scans.begin { output.finish() }
    output.onTermination = { [core, scans] _ in
      observation.cancel()
      if scans.end(number) { core.tell(ScanStop.self, Empty()) }
    }
    do {
      _ = try await core.call(ScanStart.self, parameters)
    } catch {
      output.finish()
      throw error
    }
    return stream
  }
}

/// The one scan of a client.
final class ScanSlot: Sendable {
  private let current = NIOLockedValueBox<(number: Int, replaced: (@Sendable () -> Void)?)>((0, nil))

  /// Begins a scan and ends the one before.
  func begin(replaced: @escaping @Sendable () -> Void) -> Int {
    let (number, previous) = current.withLockedValue { current in
      let previous = current.replaced
      current = (current.number + 1, replaced)
      return (current.number, previous)
    }
    previous?()
    return number
  }

  /// Whether the scan of this number was still the current one.
  func end(_ number: Int) -> Bool {
    current.withLockedValue { current in
      guard current.number == number, current.replaced != nil else { return false }
      current.replaced = nil
      return true
    }
  }
}
