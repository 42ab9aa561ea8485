import BledRPC
import Capture
import Glibc
import Testing

@testable import BledCore

/// A recording of btsnoop by a client, and its reader.
final class TestRecording {
  /// The number that names it in the session.
  let number: Int
  /// True once the pipe has ended.
  private(set) var isAtEnd = false
  private let descriptor: Int32
  private var reader = RecordingParser()

  /// Starts it.
  init(by client: TestClient, keys: Bool? = nil, adapter: String? = nil) throws {
    number = try client.result(CaptureStart.self, .init(format: "btsnoop", adapter: adapter, keys: keys)).capture
    let passed = try #require(client.takePassed())
    descriptor = withExtendedLifetime(passed) { dup(passed.number) }
    _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
  }

  deinit { close(descriptor) }

  /// The records that can be read and were not read before.
  func read() throws -> [CaptureRecord] {
    var octets = [UInt8](repeating: 0, count: 1 << 16)
    var records: [CaptureRecord] = []
    while true {
      let count = Glibc.read(descriptor, &octets, octets.count)
      if count == 0 { isAtEnd = true }
      guard count > 0 else { return records }
      reader.append(octets[..<count])
      while let record = try reader.next() { records.append(record) }
    }
  }
}

extension [CaptureRecord] {
  /// The texts of the notes among them.
  var notes: [String] { compactMap { Annotation($0.packet)?.text } }
}
