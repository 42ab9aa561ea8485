@testable import ESPHome

/// A client without encryption, played by the test.
final class ScriptedStream: ClientStream {
  let origin: [UInt8]
  private var transport = APITransport(identity: .init(name: "", address: ""), key: nil)
  private(set) var frames: [APIFrame] = []
  private(set) var isClosed = false
  /// The number of octets that the client has not read.
  var unsent = 0

  init(from origin: [UInt8] = [127, 0, 0, 1]) { self.origin = origin }

  func send(_ octets: [UInt8]) {
    transport.append(octets)
    while case .message(let frame)? = transport.next() { frames.append(frame) }
  }

  func close() { isClosed = true }

  /// The messages received since the last call, all or those of one type.
  func take(_ type: UInt32? = nil) -> [APIFrame] {
    defer { frames = type == nil ? [] : frames.filter { $0.type != type } }
    return frames.filter { type == nil || $0.type == type }
  }
}
