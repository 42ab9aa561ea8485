import BledRPC
import Bluetooth
import FoundationEssentials
import NIOCore
import NIOPosix

/// A connection to the daemon that carries lines, whatever they say.
public final class LineConnection: Sendable {
  private let channel: any Channel

  private init(channel: any Channel) { self.channel = channel }

  /// Connects; nothing is read before `start`.
  /// - Throws: `BledError.daemonUnreachable` or `.notPermitted`, with a message that says what to do.
  public static func connect(to path: String) async throws(BluetoothError) -> LineConnection {
    let bootstrap = ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .channelOption(ChannelOptions.autoRead, value: false)
      .channelInitializer { channel in
        channel.eventLoop.makeCompletedFuture { try channel.pipeline.syncOperations.addHandler(LineHandler()) }
      }
    do {
      return LineConnection(channel: try await bootstrap.connect(unixDomainSocketPath: path).get())
    } catch {
      throw unreachable(path, error)
    }
  }

  /// Begins to read. Both functions are called on one thread: `line` for each line in order, without its line feed, and
  /// `closed` once at the end, with an error unless this side closed.
  public func start(
    line: @escaping @Sendable (Data) -> Void, closed: @escaping @Sendable (BluetoothError?) -> Void
  ) {
    let channel = channel
    channel.eventLoop.execute {
      do {
        let handler = try channel.pipeline.syncOperations.handler(type: LineHandler.self)
        handler.start(line: line, closed: closed)
        channel.setOption(ChannelOptions.autoRead, value: true).whenFailure { _ in channel.close(promise: nil) }
      } catch {
        closed(LineHandler.ended)  // The handler is gone: the channel closed before we came here.
      }
    }
  }

  /// Sends a line, line feed included. After the end it does nothing.
  public func send(_ line: Data) {
    channel.writeAndFlush(channel.allocator.buffer(bytes: line), promise: nil)
  }

  /// Ends the connection; what was sent before still goes out.
  public func close() {
    let channel = channel
    channel.eventLoop.execute {
      (try? channel.pipeline.syncOperations.handler(type: LineHandler.self))?.closedHere = true
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
    guard !inactive else { return closed(Self.ended) }
    self.line = line
    self.closed = closed
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    framer.append(unwrapInboundIn(data).readableBytesView)
    do {
      while let next = try framer.next() { line?(next) }
    } catch {
      failure = BledError.protocolViolation.error("bled sent a line of more than \(error.limit) bytes")
      context.close(promise: nil)
    }
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    failure = failure ?? BledError.daemonUnreachable.error("the connection to bled failed: \(error)")
    context.close(promise: nil)
  }

  func channelInactive(context: ChannelHandlerContext) {
    inactive = true
    let closed = closed
    (line, self.closed) = (nil, nil)
    closed?(closedHere ? nil : failure ?? Self.ended)
  }
}
