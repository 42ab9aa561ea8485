import EventLoop
import Glibc

/// The program's side of a channel: a socket pair, or a connection by token.
protocol ProgramEnd: AnyObject {
  /// Called when there is something to read, or room again.
  var onReady: (() -> Void)? { get set }
  /// True to be called when there is input.
  var isReading: Bool { get set }
  /// True to be called when there is room.
  var awaitsRoom: Bool { get set }
  /// Reads a packet, or in a stream up to `limit` octets.
  func read(atMost limit: Int) -> ProgramInput
  /// Writes a packet, or in a stream as many octets as fit.
  /// - Returns: the number of octets written; 0 without room, nil without a reader.
  func write(_ octets: ArraySlice<UInt8>) -> Int?
  /// Closes it. Earlier octets can still be read.
  func close()
}

/// The input from a program's side.
enum ProgramInput: Equatable {
  case octets([UInt8])
  case nothing
  /// A packet with this number of octets, which is too long.
  case tooLong(Int)
  /// The program sends no more, but may still read.
  case endOfSending
  case gone
}

/// A socket as the program's side of a channel.
final class SocketEnd: ProgramEnd {
  private let descriptor: CInt
  /// True for packets (SOCK_SEQPACKET); else it is a stream.
  private let keepsPackets: Bool
  private var watch: Watch?
  var onReady: (() -> Void)?

  var isReading = false {
    didSet { if isReading != oldValue { updateInterest() } }
  }
  var awaitsRoom = false {
    didSet { if awaitsRoom != oldValue { updateInterest() } }
  }

  /// Takes ownership of a nonblocking descriptor.
  /// - Throws: `EventLoopError` if it cannot be watched; it is closed then.
  init(_ descriptor: CInt, keepsPackets: Bool, on loop: EventLoop) throws(EventLoopError) {
    self.descriptor = descriptor
    self.keepsPackets = keepsPackets
    do {
      watch = try Watch(descriptor, on: loop, interest: []) { [unowned self] readiness in
        // A failed descriptor is reported again and again, also while nothing can be done about it.
        if readiness.contains(.failed), !isReading, !awaitsRoom { watch?.isEnabled = false }
        onReady?()
      }
    } catch {
      Glibc.close(descriptor)
      throw error
    }
  }

  deinit { close() }

  private func updateInterest() {
    var interest: Watch.Readiness = isReading ? .readable : []
    if awaitsRoom { interest.insert(.writable) }
    watch?.interest = interest
    watch?.isEnabled = true
  }

  func read(atMost limit: Int) -> ProgramInput {
    guard watch != nil else { return .gone }
    let flags = Int32(MSG_DONTWAIT) | (keepsPackets ? Int32(MSG_TRUNC) : 0)
    var count = 0
    let octets = [UInt8](unsafeUninitializedCapacity: limit) { buffer, initialized in
      count = recv(descriptor, buffer.baseAddress, limit, flags)
      initialized = min(max(count, 0), limit)
    }
    // Reported once, before the packets of a program that closed its end with unread data (unix(7)).
    if count < 0, errno == ECONNRESET, keepsPackets { return read(atMost: limit) }
    if count < 0 { return errno == EAGAIN || errno == EINTR ? .nothing : .gone }
    if count > limit { return .tooLong(count) }
    if count > 0 { return .octets(octets) }
    // An empty packet reads as the end does.
    var state = pollfd(fd: descriptor, events: Int16(POLLIN) | pollfd.halfClosed, revents: 0)
    poll(&state, 1, 0)
    var left: CInt = 0
    // More may follow.
    if ioctl(descriptor, UInt(FIONREAD), &left) == 0, left > 0 { return .nothing }
    if state.revents & Int16(POLLHUP) != 0 { return .gone }
    return state.revents & pollfd.halfClosed != 0 ? .endOfSending : .nothing
  }

  func write(_ octets: ArraySlice<UInt8>) -> Int? {
    guard watch != nil else { return nil }
    let count = octets.withUnsafeBytes {
      send(descriptor, $0.baseAddress, $0.count, Int32(MSG_DONTWAIT) | Int32(MSG_NOSIGNAL))
    }
    if count >= 0 { return count }
    return errno == EAGAIN || errno == EINTR ? 0 : nil
  }

  func close() {
    guard watch != nil else { return }
    watch?.cancel()
    watch = nil
    onReady = nil
    // Octets left unread here would take unread data from the program (unix(7) resets the connection).
    shutdown(descriptor, Int32(SHUT_RDWR))
    var unread = [UInt8](repeating: 0, count: 4096)
    while recv(descriptor, &unread, unread.count, Int32(MSG_DONTWAIT)) > 0 {}
    Glibc.close(descriptor)
  }
}

extension pollfd {
  /// POLLRDHUP of poll(2), which Glibc declares with its extensions only: the other end sends no more.
  static let halfClosed: Int16 = 0x2000
}
