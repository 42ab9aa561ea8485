import Foundation

/// The octets received over a channel.
package final class ChannelInputStream: InputStream {
  package let events: StreamEvents
  private let socket: DispatchSocket

  package init(_ socket: DispatchSocket) {
    self.socket = socket
    events = StreamEvents(socket, .input)
    super.init(data: Data())
    events.stream = self
  }

  deinit { events.close() }

  package override func open() { events.open() }
  package override func close() { events.close() }
  package override var streamStatus: Stream.Status { events.status }
  package override var streamError: (any Error)? { events.error }
  package override var hasBytesAvailable: Bool { events.isReady }
  package override var delegate: (any StreamDelegate)? { didSet { events.delegateChanged() } }

  package override func read(_ buffer: UnsafeMutablePointer<UInt8>, maxLength length: Int) -> Int {
    guard length > 0 else { return 0 }
    return events.pass { socket.read(buffer, length) }
  }

  package override func getBuffer(
    _ buffer: UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>, length: UnsafeMutablePointer<Int>
  ) -> Bool { false }

  package override func schedule(in runLoop: RunLoop, forMode mode: RunLoop.Mode) { events.schedule(in: runLoop, mode) }
  package override func remove(from runLoop: RunLoop, forMode mode: RunLoop.Mode) { events.remove(from: runLoop, mode) }
  package override func property(forKey key: PropertyKey) -> AnyObject? { nil }
  package override func setProperty(_ property: AnyObject?, forKey key: PropertyKey) -> Bool { false }
}

/// The octets sent over a channel.
package final class ChannelOutputStream: OutputStream {
  package let events: StreamEvents
  private let socket: DispatchSocket

  package init(_ socket: DispatchSocket) {
    self.socket = socket
    events = StreamEvents(socket, .output)
    super.init(toMemory: ())
    events.stream = self
  }

  package required init(toMemory: ()) {
    ProgramLog.raise("the stream of a channel is made with the channel")
  }

  deinit { events.close() }

  package override func open() { events.open() }
  package override func close() { events.close() }
  package override var streamStatus: Stream.Status { events.status }
  package override var streamError: (any Error)? { events.error }
  package override var hasSpaceAvailable: Bool { events.isReady }
  package override var delegate: (any StreamDelegate)? { didSet { events.delegateChanged() } }

  package override func write(_ buffer: UnsafePointer<UInt8>, maxLength length: Int) -> Int {
    guard length > 0 else { return 0 }
    return events.pass { socket.write(buffer, length) }
  }

  package override func schedule(in runLoop: RunLoop, forMode mode: RunLoop.Mode) { events.schedule(in: runLoop, mode) }
  package override func remove(from runLoop: RunLoop, forMode mode: RunLoop.Mode) { events.remove(from: runLoop, mode) }
  package override func property(forKey key: PropertyKey) -> AnyObject? { nil }
  package override func setProperty(_ property: AnyObject?, forKey key: PropertyKey) -> Bool { false }
}
