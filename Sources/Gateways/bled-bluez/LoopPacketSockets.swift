import BlueZ
import EventLoop
import Glibc

/// The sockets that programs pass, on an event loop.
final class LoopPacketSockets: PacketSocketOpener {
  private let loop: EventLoop

  init(_ loop: EventLoop) { self.loop = loop }

  func open(_ descriptor: BusDescriptor, _ happened: @escaping (PacketSocketEvent) -> Void) -> (any PacketSocket)? {
    LoopPacketSocket(descriptor, loop, happened)
  }
}

private final class LoopPacketSocket: PacketSocket {
  /// The longest value of an attribute (Core 5.4, Vol 3, Part F, 3.2.9).
  private static let longestValue = 512
  /// The packets that are read in one turn.
  private static let portion = 32

  private let descriptor: BusDescriptor
  private let happened: (PacketSocketEvent) -> Void
  private var watch: Watch?
  private var isFull = false

  var isReading = true {
    didSet { setInterest() }
  }

  init?(_ descriptor: BusDescriptor, _ loop: EventLoop, _ happened: @escaping (PacketSocketEvent) -> Void) {
    var type: Int32 = 0
    var length = socklen_t(MemoryLayout<Int32>.size)
    guard getsockopt(descriptor.number, SOL_SOCKET, SO_TYPE, &type, &length) == 0,
      type == Int32(SOCK_SEQPACKET.rawValue)
    else { return nil }
    self.descriptor = descriptor
    self.happened = happened
    do {
      watch = try Watch(descriptor.number, on: loop) { [unowned self] in ready($0) }
    } catch {
      return nil
    }
  }

  deinit { watch?.cancel() }

  func send(_ value: [UInt8]) -> PacketSocketResult {
    // The program may have left the descriptor blocking.
    let count = value.withUnsafeBytes {
      Glibc.send(descriptor.number, $0.baseAddress, $0.count, Int32(MSG_DONTWAIT) | Int32(MSG_NOSIGNAL))
    }
    if count == value.count { return .sent }
    guard count < 0, errno == EAGAIN else { return .failed }
    isFull = true
    setInterest()
    return .full
  }

  private func setInterest() {
    var interest: Watch.Readiness = []
    if isReading { interest.insert(.readable) }
    if isFull { interest.insert(.writable) }
    watch?.interest = interest
  }

  private func ready(_ readiness: Watch.Readiness) {
    // An event may release the last reference to it.
    withExtendedLifetime(self) {
      if isFull, !readiness.isDisjoint(with: [.writable, .failed]) {
        isFull = false
        setInterest()
        happened(.room)
      }
      for _ in 0..<Self.portion where isReading || readiness.contains(.failed) {
        switch read() {
        case .error(EAGAIN), .error(EINTR): return
        // An empty packet looks like the end.
        case .packet(let value) where !value.isEmpty || !readiness.contains(.failed): happened(.packet(value))
        case .packet, .error:
          watch?.cancel()
          watch = nil
          return happened(.end)
        }
      }
    }
  }

  private enum Outcome {
    case packet([UInt8])
    /// The code of a failed system call.
    case error(Int32)
  }

  private func read() -> Outcome {
    var error: Int32?
    let value = [UInt8](unsafeUninitializedCapacity: Self.longestValue) { octets, length in
      let count = recv(descriptor.number, octets.baseAddress, octets.count, Int32(MSG_DONTWAIT))
      error = count < 0 ? errno : nil
      length = max(count, 0)
    }
    return error.map(Outcome.error) ?? .packet(value)
  }
}
