import Adapter
import Bluetooth
import DequeModule
import EventLoop
import Glibc
import Host

/// HCI packets over a transport, from the answer to Reset on. 64 packets are delivered before other sources get their
/// turn.
///
/// Packets that cannot be written at once wait in order. The host sends one command at a time, and as much data as the
/// controller has buffers for, so few octets wait; a controller that takes none of 1 MiB does not work.
final class H4Stream: PacketTransport {
  /// Octets read at once.
  private static let burst = 1 << 16
  private static let packetsInTurn = 64
  private static let limit = 1 << 20

  var onEvent: ((TransportEvent) -> Void)?
  private let transport: Transport
  private let loop: EventLoop
  private let scheduler: any Scheduler
  /// The time at which the packets' octets were read.
  private(set) var arrival: Instant?
  private var framer = H4Framer(isSearching: true)
  /// Packets read but not delivered yet. Nothing is read meanwhile.
  private var framed: Deque<H4Framer.Output> = []
  /// True while reading pauses, so that other sources have their turns.
  private var isPaused = false
  private var waiting: [UInt8] = []
  private var isConnecting: Bool
  private var buffer = [UInt8](repeating: 0, count: H4Stream.burst)

  /// Opens a transport; events follow `start`.
  init(to address: TransportAddress, on loop: EventLoop, by scheduler: any Scheduler) throws(SystemError) {
    transport = try Transport(to: address)
    isConnecting = transport.isConnecting
    self.scheduler = scheduler
    self.loop = loop
  }

  var obstacle: String? { transport.obstacle }

  func start() throws(SystemError) {
    try transport.descriptor.whenReady(
      on: loop, interest: isConnecting ? .writable : .readable, priority: .high
    ) { [weak self] readiness in self?.ready(readiness) }
    if !isConnecting { loop.execute { [weak self] in self?.tell(.opened) } }
  }

  func send(_ packet: [UInt8]) {
    guard transport.descriptor.isOpen else { return }
    guard waiting.count + packet.count <= Self.limit else { return end("it takes no data") }
    guard waiting.isEmpty else { return waiting += packet }
    waiting = packet
    flush()
    if !waiting.isEmpty { updateInterest() }
  }

  /// One stream carries all packets.
  func awaitCompletions(_ isAwaited: Bool) -> Bool { true }

  func takeCompletions(_ most: Int, _ body: (ArraySlice<UInt8>) -> Void) {}

  func close() {
    onEvent = nil
    transport.descriptor.close()
  }

  private func ready(_ readiness: Watch.Readiness) {
    if isConnecting { return connected() }
    if readiness.contains(.writable) {
      flush()
      updateInterest()
    }
    if !readiness.isDisjoint(with: [.readable, .failed]) { read() }
  }

  private func connected() {
    if let error = transport.connectError {
      tell(.refused(error))
      return close()
    }
    isConnecting = false
    updateInterest()
    tell(.opened)
  }

  private func read() {
    guard transport.descriptor.isOpen, framed.isEmpty else { return }
    do throws(SystemError) {
      guard let count = try transport.read(into: &buffer) else { return }
      guard count > 0 else { return end("its connection was closed") }
      arrival = scheduler.now
      framed += framer.receive(buffer[..<count])
    } catch {
      return end(Self.words(error))
    }
    deliver()
  }

  private func deliver() {
    for _ in 0..<Self.packetsInTurn {
      guard transport.descriptor.isOpen, let output = framed.popFirst() else { break }
      switch output {
      case .packet(let packet): tell(.packet(packet))
      case .skipped(let count): tell(.skipped(count))
      case .lost(let type): end("its packets are out of step: 0x\(String(type, radix: 16)) is no type of packet")
      }
    }
    guard transport.descriptor.isOpen else { return }
    guard isPaused || !framed.isEmpty else { return }
    isPaused = !framed.isEmpty
    updateInterest()
    if isPaused { loop.execute { [weak self] in self?.deliver() } }
  }

  private func updateInterest() {
    var interest: Watch.Readiness = isPaused ? [] : .readable
    if !waiting.isEmpty { interest.insert(.writable) }
    transport.descriptor.interest = interest
  }

  private func flush() {
    guard transport.descriptor.isOpen else { return }
    do throws(SystemError) {
      while !waiting.isEmpty, let count = try transport.write(waiting[...]) {
        // Usually a whole packet, in storage that is not ours alone.
        if count == waiting.count { waiting = [] } else { waiting.removeFirst(count) }
      }
    } catch {
      end(Self.words(error))
    }
  }

  /// Not from inside a sending call.
  private func end(_ reason: String) {
    transport.descriptor.close()
    loop.execute { [weak self] in self?.tell(.ended(reason)) }
  }

  private func tell(_ event: TransportEvent) { onEvent?(event) }

  /// The system's text for an error.
  static func words(_ error: SystemError) -> String { String(cString: strerror(error.code)) }
}
