import BledRPC
import Bluetooth

extension ClientCore {
  /// Starts a scan, which lasts as long as the stream of its events.
  /// - Parameters:
  ///   - output: the stream, which ends when another scan replaces this one.
  ///   - ended: called at the end of the stream.
  func scan<Element: Sendable>(
    _ parameters: ScanStart.Params, _ output: AsyncThrowingStream<Element, any Error>.Continuation,
    ended: @escaping @Sendable () -> Void
  ) async throws(BluetoothError) {
    let (number, scan) = (newNumber(), parameters.scan)
    beginScan(number, as: scan) { output.finish() }
    output.onTermination = { [self] _ in
      ended()
      endScan(number, as: scan)
    }
    do {
      _ = try await call(
        ScanStart.self, parameters, undo: Undo(abandoned: { self.endScan(number, as: scan) }, late: { _ in }),
        arrived: { _ in self.scanStarted(number, as: scan) })
    } catch {
      scanRefused(number, as: scan)
      output.finish()
      throw error
    }
  }
}
