import Bluetooth
import EventLoop
import Glibc
import Logging

/// The socket for programs that cannot receive descriptors, to fetch their L2CAP channels: they connect and send the
/// token and a line feed; then the channel's octets follow in both directions, as a stream.
///
/// | A program that connected …              | Effect                                   |
/// |-----------------------------------------|------------------------------------------|
/// | sends the token of one of its user's channels | the connection is the channel's    |
/// | sends anything else, or goes            | it is closed                             |
/// | has not sent a token after 2 s          | it is closed                             |
/// | is idle while its user connects too often, see `CallerPlaces` | it is closed       |
public final class ChannelSocket {
  /// The time for a program's token, in nanoseconds.
  private static let timeout: Int64 = 2_000_000_000
  /// The pause in accepting without a free descriptor, in nanoseconds.
  private static let pause: Int64 = 200_000_000

  /// A program without a token yet.
  private final class Caller {
    let descriptor: CInt
    let user: UInt32?
    var token: [UInt8] = []
    var watch: Watch?
    var alarm: Timer?

    init(_ descriptor: CInt) {
      self.descriptor = descriptor
      user = PeerCredentials(ofSocket: descriptor)?.user
    }
  }

  private let socket: ListeningSocket
  private let channels: ChannelBroker
  private let rules: Rules
  private let loop: EventLoop
  private let logger: Logger
  private var watch: Watch?
  private var callers: [ObjectIdentifier: Caller] = [:]
  private var places = CallerPlaces<ObjectIdentifier>()
  private var pauseTimer: Timer?

  /// Begins to listen.
  /// - Parameter path: the socket's path, for answers.
  /// - Throws: `EventLoopError` if the socket cannot be watched.
  init(
    _ socket: ListeningSocket, path: String, channels: ChannelBroker, rules: Rules, loop: EventLoop, logger: Logger
  ) throws(EventLoopError) {
    self.socket = socket
    self.channels = channels
    self.rules = rules
    self.loop = loop
    self.logger = logger
    watch = try Watch(socket.descriptor, on: loop) { [weak self] _ in self?.accept() }
    channels.socketPath = path
  }

  /// The path beside the daemon's own socket: `bled-channels.sock` for `bled.sock`.
  public static func path(beside path: String) -> String {
    let suffix = ".sock"
    return path.utf8.count > suffix.utf8.count && path.hasSuffix(suffix)
      ? "\(path.dropLast(suffix.count))-channels\(suffix)" : "\(path)-channels"
  }

  /// Closes the socket; connections that belong to channels stay.
  public func close() {
    guard watch != nil else { return }
    socket.removeFile()
    watch?.cancel()
    watch = nil
    pauseTimer?.cancel()
    Glibc.close(socket.descriptor)
    for caller in Array(callers.values) { drop(caller) }
  }

  private func accept() {
    guard !places.isFull else { return rest() }
    let descriptor = Glibc.accept(socket.descriptor, nil, nil)
    guard descriptor >= 0 else {
      if errno != EAGAIN, errno != EINTR, errno != ECONNABORTED { rest() }
      return
    }
    guard !DescriptorReserve.contains(descriptor) || rules.policy.isPrivileged(PeerCredentials(ofSocket: descriptor))
    else { return Farewells.close(descriptor) }
    _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
    let caller = Caller(descriptor)
    let id = ObjectIdentifier(caller)
    if let idle = places.add(id, of: caller.user).flatMap({ callers[$0] }) { drop(idle) }
    callers[id] = caller
    do throws(EventLoopError) {
      caller.watch = try Watch(descriptor, on: loop) { [unowned self, unowned caller] _ in read(caller) }
    } catch {
      return drop(caller)
    }
    caller.alarm = loop.schedule(at: EventLoop.now + Self.timeout) { [weak self, weak caller] in
      if let caller { self?.drop(caller) }
    }
  }

  /// There is no room or no descriptor at the moment.
  private func rest() {
    watch?.interest = []
    pauseTimer = loop.schedule(at: EventLoop.now + Self.pause) { [weak self] in self?.watch?.interest = .readable }
  }

  /// Reads no more than the token: later octets are the channel's.
  private func read(_ caller: Caller) {
    var octets = [UInt8](repeating: 0, count: ChannelTokens.length + 1 - caller.token.count)
    let count = octets.withUnsafeMutableBytes { recv(caller.descriptor, $0.baseAddress, $0.count, Int32(MSG_DONTWAIT)) }
    if count < 0, errno == EAGAIN || errno == EINTR { return }
    guard count > 0 else { return drop(caller) }
    caller.token += octets.prefix(count)
    guard caller.token.count > ChannelTokens.length else { return }
    let text = String(decoding: caller.token.dropLast(), as: UTF8.self)
    guard caller.token.last == UInt8(ascii: "\n"), let channel = channels.channel(of: text, for: caller.user) else {
      logger.debug("user \(caller.user ?? 0) presented an invalid token")
      return drop(caller)
    }
    forget(caller)
    // A descriptor that cannot be watched is closed.
    guard let end = try? SocketEnd(caller.descriptor, keepsPackets: false, on: loop) else { return }
    channels.attach(end, to: channel)
  }

  private func drop(_ caller: Caller) {
    forget(caller)
    Glibc.close(caller.descriptor)
  }

  private func forget(_ caller: Caller) {
    callers[ObjectIdentifier(caller)] = nil
    places.remove(ObjectIdentifier(caller))
    caller.watch?.cancel()
    caller.alarm?.cancel()
  }
}
