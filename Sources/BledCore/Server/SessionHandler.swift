import BledRPC
import FoundationEssentials
import NIOCore

/// One connection of the socket: cuts what it reads into lines, and writes those that wait for it, as many at once as wait.
///
/// | State    | Input                          | What happens                                              |
/// |----------|--------------------------------|-----------------------------------------------------------|
/// | reading  | octets                         | each whole line goes to the session                       |
/// | reading  | the session is congested       | lines wait in the framer, the socket is not read → paused |
/// | paused   | the session is relieved        | the lines that wait → reading                             |
/// | any      | the client sends no more       | a last line without line feed counts; once all is answered → closed |
/// | any      | the session ends               | what waits is written, for a second at most → closed      |
/// | any      | the connection breaks          | the daemon is told → closed                               |
final class SessionHandler: ChannelDuplexHandler, SessionTransport {
  typealias InboundIn = ByteBuffer
  typealias OutboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  /// How long a session that ended may take to write what waits.
  private static let lastWords = TimeAmount.seconds(1)

  private let daemon: Daemon
  private let credentials: PeerCredentials?
  private let eventLoop: NIOIsolatedEventLoop
  private var connection: SessionConnection?
  private var context: ChannelHandlerContext?
  private var framer = LineFramer()
  private var isReading = true
  private var hasUnservedRead = false
  private var isWriting = false
  private var isFlushScheduled = false
  private var isClosing = false
  private var hasInputEnded = false
  private var closeAlarm: Scheduled<Void>?

  init(daemon: Daemon, credentials: PeerCredentials?, eventLoop: any EventLoop) {
    self.daemon = daemon
    self.credentials = credentials
    self.eventLoop = eventLoop.assumeIsolated()
  }

  // MARK: The channel

  func handlerAdded(context: ChannelHandlerContext) { self.context = context }

  func channelActive(context: ChannelHandlerContext) {
    connection = daemon.open(self, credentials: credentials)
    context.fireChannelActive()
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    framer.append(unwrapInboundIn(data).readableBytesView)
    readLines()
    connection?.hold(framer.held)
  }

  func read(context: ChannelHandlerContext) {
    if isReading { context.read() } else { hasUnservedRead = true }
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    if case .some(.inputClosed) = event as? ChannelEvent {
      hasInputEnded = true
      if framer.held > 0 { framer.append(CollectionOfOne(UInt8(ascii: "\n"))) }
      readLines()
      linesWait()
    }
    context.fireUserInboundEventTriggered(event)
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

  func channelInactive(context: ChannelHandlerContext) {
    closeAlarm?.cancel()
    self.context = nil
    if let connection { daemon.closed(connection) }
    connection = nil
    context.fireChannelInactive()
  }

  // MARK: The session

  func linesWait() {
    guard !isFlushScheduled else { return }
    isFlushScheduled = true
    eventLoop.execute { [self] in
      isFlushScheduled = false
      flush()
    }
  }

  func setReading(_ wanted: Bool) {
    isReading = wanted
    guard wanted else { return }
    eventLoop.execute { [self] in
      readLines()
      connection?.hold(framer.held)
      guard isReading, hasUnservedRead else { return }
      hasUnservedRead = false
      context?.read()
    }
  }

  func close() {
    isClosing = true
    closeAlarm = eventLoop.scheduleTask(in: Self.lastWords) { [self] in context?.close(promise: nil) }
    linesWait()
  }

  private func readLines() {
    while isReading, !isClosing, let connection {
      framer.limit = connection.longestLine
      do {
        guard let line = try framer.next() else { return }
        connection.receive(line)
      } catch {
        connection.receive(error)
      }
    }
  }

  private func flush() {
    guard !isWriting, let context, let connection else { return }
    let lines = connection.takeLines()
    guard !lines.isEmpty else {
      if isClosing || (hasInputEnded && connection.isDone && framer.held == 0) { context.close(promise: nil) }
      return
    }
    var buffer = context.channel.allocator.buffer(capacity: lines.reduce(0) { $0 + $1.count })
    for line in lines { buffer.writeBytes(line) }
    isWriting = true
    context.writeAndFlush(wrapOutboundOut(buffer)).assumeIsolated().whenComplete { [self] _ in
      isWriting = false
      flush()
    }
  }
}
