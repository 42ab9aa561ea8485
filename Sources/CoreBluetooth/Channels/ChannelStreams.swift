/// The octets that come over a channel.
final class ChannelInputStream: InputStream {
  let events: StreamEvents
  private let socket: ChannelSocket

  init(_ socket: ChannelSocket) {
    self.socket = socket
    events = StreamEvents(socket, .input)
    super.init(data: Data())
    events.stream = self
  }

  deinit { events.close() }

  override func open() { events.open() }
  override func close() { events.close() }
  override var streamStatus: Stream.Status { events.status }
  override var streamError: (any Error)? { events.error }
  override var hasBytesAvailable: Bool { events.isReady }
  override var delegate: (any StreamDelegate)? { didSet { events.delegateChanged() } }

  override func read(_ buffer: UnsafeMutablePointer<UInt8>, maxLength length: Int) -> Int {
    guard length > 0 else { return 0 }
    return events.pass { socket.read(buffer, length) }
  }

  override func getBuffer(
    _ buffer: UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>, length: UnsafeMutablePointer<Int>
  ) -> Bool { false }

  override func schedule(in runLoop: RunLoop, forMode mode: RunLoop.Mode) { events.schedule(in: runLoop, mode) }
  override func remove(from runLoop: RunLoop, forMode mode: RunLoop.Mode) { events.remove(from: runLoop, mode) }
  override func property(forKey key: PropertyKey) -> AnyObject? { nil }
  override func setProperty(_ property: AnyObject?, forKey key: PropertyKey) -> Bool { false }
}

/// The octets that go over a channel.
final class ChannelOutputStream: OutputStream {
  let events: StreamEvents
  private let socket: ChannelSocket

  init(_ socket: ChannelSocket) {
    self.socket = socket
    events = StreamEvents(socket, .output)
    super.init(toMemory: ())
    events.stream = self
  }

  required init(toMemory: ()) {
    Misuse.raise("the stream of an L2CAP channel is made by Core Bluetooth")
  }

  deinit { events.close() }

  override func open() { events.open() }
  override func close() { events.close() }
  override var streamStatus: Stream.Status { events.status }
  override var streamError: (any Error)? { events.error }
  override var hasSpaceAvailable: Bool { events.isReady }
  override var delegate: (any StreamDelegate)? { didSet { events.delegateChanged() } }

  override func write(_ buffer: UnsafePointer<UInt8>, maxLength length: Int) -> Int {
    guard length > 0 else { return 0 }
    return events.pass { socket.write(buffer, length) }
  }

  override func schedule(in runLoop: RunLoop, forMode mode: RunLoop.Mode) { events.schedule(in: runLoop, mode) }
  override func remove(from runLoop: RunLoop, forMode mode: RunLoop.Mode) { events.remove(from: runLoop, mode) }
  override func property(forKey key: PropertyKey) -> AnyObject? { nil }
  override func setProperty(_ property: AnyObject?, forKey key: PropertyKey) -> Bool { false }
}
