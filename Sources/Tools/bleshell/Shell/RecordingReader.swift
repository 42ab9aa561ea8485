import Dispatch
import Glibc

/// Reads a recording from the daemon's pipe, on a thread of its own, until the pipe ends.
final class RecordingReader: Sendable {
  private let reading: Task<String?, Never>
  /// Ends when the reading does.
  private let ends: AsyncStream<Never>

  /// Begins to read.
  /// - Parameters:
  ///   - descriptor: the pipe, which is closed at the end.
  ///   - receive: receives the octets read; it returns a problem to stop at, or nil to continue.
  init(_ descriptor: Int32, _ receive: @escaping @Sendable (ArraySlice<UInt8>) -> String?) {
    let (ends, end) = AsyncStream.makeStream(of: Never.self)
    self.ends = ends
    reading = Task {
      await withCheckedContinuation { continuation in
        DispatchQueue(label: "bleshell.recording").async {
          let problem = Self.read(descriptor, receive)
          close(descriptor)
          end.finish()
          continuation.resume(returning: problem)
        }
      }
    }
  }

  /// Waits until the reading ends, the time in seconds is over, or the task is cancelled.
  func wait(atMost time: Double?) async {
    _ = try? await withDeadline(time ?? 0) { [ends] in for await _ in ends {} }
  }

  /// Waits until the reading has ended.
  /// - Returns: why it was stopped; nil at the end of the pipe.
  var problem: String? { get async { await reading.value } }

  private static func read(_ descriptor: Int32, _ receive: (ArraySlice<UInt8>) -> String?) -> String? {
    var octets = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = Glibc.read(descriptor, &octets, octets.count)
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { return nil }
      if let problem = receive(octets[..<count]) { return problem }
    }
  }
}
