import BledRPC
import Bluetooth
import FoundationEssentials
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix

/// A connection to the daemon that carries lines, whatever they say.
public final class LineConnection: Sendable {
  private let channel: any Channel
  /// Held here as well: a channel that was closed has no handlers any more.
  private let handler: NIOLoopBound<LineHandler>

  private init(channel: any Channel, handler: NIOLoopBound<LineHandler>) {
    self.channel = channel
    self.handler = handler
  }

  /// Connects; nothing is read before `start`.
  /// - Throws: `BledError.daemonUnreachable` or `.notPermitted`, with a message that says what to do.
  public static func connect(to path: String) async throws(BluetoothError) -> LineConnection {
    let made = NIOLockedValueBox<NIOLoopBound<LineHandler>?>(nil)
    let bootstrap = ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .channelOption(ChannelOptions.autoRead, value: false)
      .channelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          let handler = LineHandler()
          made.withLockedValue { $0 = NIOLoopBound(handler, eventLoop: channel.eventLoop) }
          try channel.pipeline.syncOperations.addHandler(handler)
        }
      }
    do {
      let channel = try await bootstrap.connect(unixDomainSocketPath: path).get()
      guard let handler = made.withLockedValue({ $0 }) else { throw LineHandler.ended }
      return LineConnection(channel: channel, handler: handler)
    } catch {
      throw unreachable(path, error)
    }
  }

  /// Begins to read. Both functions are called on one thread: `line` for each line in order, without its line feed, and
  /// `closed` once at the end, with an error unless this side closed.
  public func start(
    line: @escaping @Sendable (Data) -> Void, closed: @escaping @Sendable (BluetoothError?) -> Void
  ) {
    let (channel, handler) = (channel, handler)
    channel.eventLoop.execute {
      handler.value.start(line: line, closed: closed)
      channel.setOption(ChannelOptions.autoRead, value: true).whenFailure { _ in channel.close(promise: nil) }
    }
  }

  /// Sends a line, line feed included. After the end it does nothing.
  public func send(_ line: Data) {
    channel.writeAndFlush(channel.allocator.buffer(bytes: line), promise: nil)
  }

  /// Ends the connection; what was sent before still goes out.
  public func close() {
    let (channel, handler) = (channel, handler)
    channel.eventLoop.execute {
      handler.value.closedHere = true
      channel.writeAndFlush(channel.allocator.buffer(capacity: 0)).whenComplete { _ in channel.close(promise: nil) }
    }
  }
}

/// Cuts what comes into lines and hands them on.
private final class LineHandler: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer

  static let ended = BledError.daemonUnreachable.error("bled ended the connection. Is it still running?")

  var closedHere = false
  private var framer = LineFramer()
  private var line: (@Sendable (Data) -> Void)?
  private var closed: (@Sendable (BluetoothError?) -> Void)?
  private var failure: BluetoothError?
  private var inactive = false

  func start(line: @escaping @Sendable (Data) -> Void, closed: @escaping @Sendable (BluetoothError?) -> Void) {
    self.line = line
    self.closed = closed
    // The daemon may have ended the connection by now: what it said before is here.
    readLines()
    if inactive { end() }
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    framer.append(unwrapInboundIn(data).readableBytesView)
    if line != nil, !readLines() { context.close(promise: nil) }
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    failure = failure ?? BledError.daemonUnreachable.error("the connection to bled failed: \(error)")
    context.close(promise: nil)
  }

  func channelInactive(context: ChannelHandlerContext) {
    inactive = true
    end()
  }

  /// Hands on the lines that are whole.
  /// - Returns: false if one is too long.
  @discardableResult
  private func readLines() -> Bool {
    do {
      while let next = try framer.next() { line?(next) }
      return true
    } catch {
      failure = BledError.protocolViolation.error("bled sent a line of more than \(error.limit) bytes")
      return false
    }
  }

  private func end() {
    let closed = closed
    (line, self.closed) = (nil, nil)
    closed?(closedHere ? nil : failure ?? Self.ended)
  }
}
