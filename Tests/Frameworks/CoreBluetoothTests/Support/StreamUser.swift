import CoreBluetooth
import Testing

/// A channel as programs use it: both streams are scheduled in the run loop of a thread, and the delegate writes when
/// there is space and reads when there are bytes.
final class StreamUser: NSObject, StreamDelegate, @unchecked Sendable {
  private let channel: CBL2CAPChannel
  private let output: Data
  private let lock = NSLock()
  private var written = 0
  private var octets = Data()
  private var told: [(isInput: Bool, event: Stream.Event)] = []
  private var hasLeftRunLoop = false
  private var wasElsewhere = false
  private var thread: Thread?

  /// - Parameter output: the octets to write.
  init(_ channel: CBL2CAPChannel, writing output: Data = Data()) {
    self.channel = channel
    self.output = output
    super.init()
    let thread = Thread { [self] in
      for stream in [self.channel.inputStream, self.channel.outputStream] as [Foundation.Stream] {
        stream.delegate = self
        stream.schedule(in: .current, forMode: .default)
        stream.open()
      }
      // Returns when nothing is scheduled in it.
      RunLoop.current.run()
      lock.withLock { hasLeftRunLoop = true }
    }
    self.thread = thread
    thread.start()
  }

  /// The octets read.
  var received: Data { lock.withLock { octets } }
  /// True once the run loop has returned.
  var isOver: Bool { lock.withLock { hasLeftRunLoop } }
  /// True if the delegate was called on another thread.
  var wasCalledElsewhere: Bool { lock.withLock { wasElsewhere } }

  /// The number of calls of the delegate with this event.
  func count(_ event: Stream.Event, input: Bool) -> Int {
    lock.withLock { told.count { $0.isInput == input && $0.event == event } }
  }

  func stream(_ stream: Foundation.Stream, handle event: Foundation.Stream.Event) {
    lock.withLock {
      told.append((stream is InputStream, event))
      wasElsewhere = wasElsewhere || Thread.current !== thread
    }
    switch event {
    case .hasBytesAvailable:
      var buffer = [UInt8](repeating: 0, count: 1000)
      let count = channel.inputStream.read(&buffer, maxLength: buffer.count)
      lock.withLock { octets += buffer.prefix(max(count, 0)) }
    case .hasSpaceAvailable:
      let rest = Array(output.dropFirst(written))
      if !rest.isEmpty { written += max(channel.outputStream.write(rest, maxLength: rest.count), 0) }
    case .endEncountered:
      stream.close()
    default: break
    }
  }
}
