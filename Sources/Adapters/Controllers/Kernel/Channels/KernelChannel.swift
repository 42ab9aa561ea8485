import Adapter
import Bluetooth
import CBlueZ
import EventLoop
import Glibc

/// A channel in a credit-based flow control mode on a kernel socket; the kernel segments packets, counts the credits,
/// and answers the device's requests.
final class KernelChannel: Channel, LinkChannel {
  let psm: UInt16
  let mode: ChannelMode
  let receiveMTU: Int
  let sendMTU: Int
  let pieces: ChannelPieces?
  var onEvent: ((ChannelEvent) -> Void)?

  /// Maximum packets read before other sources get their turn.
  private static let burst = 16
  /// Time for sent packets to leave a closed channel.
  private static let departure = Duration.seconds(10)
  /// Interval for checking that they have: the kernel signals only when half of its buffer is free.
  private static let glance = Duration.milliseconds(20)

  private let descriptor: Descriptor
  private let context: LoopContext
  private weak var link: KernelLink?
  private var buffer: [UInt8]
  /// The packet without room in the kernel.
  private var waiting: [UInt8]?
  private var error: SystemError?
  /// True once the kernel has reported the other end closed: its earlier packets are still to be read.
  private var isEnding = false
  /// True if nothing was read after the end.
  private var hasReadNothing = false
  private var hasEnded = false
  /// The reason for the link's end, if it has ended.
  private var linkEnd: BluetoothError?
  /// The time at which a closed channel is given up.
  private var deadline: Instant?

  var isReading = false {
    didSet {
      guard isReading != oldValue, !hasEnded else { return }
      updateInterest()
      if isReading, isEnding { readSoon() }
    }
  }

  /// Takes ownership of the descriptor.
  /// - Parameter pieces: the signalling received during its opening.
  init(
    _ psm: UInt16, _ descriptor: Descriptor, pieces: ChannelPieces? = nil, on link: KernelLink,
    in context: LoopContext
  ) {
    self.psm = psm
    // A kernel without the enhanced mode does not support this query.
    mode = cbz_channel_is_enhanced(descriptor.number) == 1 ? .enhanced : .leCreditBased
    self.descriptor = descriptor
    self.pieces = pieces
    self.link = link
    self.context = context
    var incoming: UInt16 = 0
    var outgoing: UInt16 = 0
    _ = cbz_channel_get_mtu(descriptor.number, &incoming, &outgoing)
    receiveMTU = max(Int(incoming), ChannelParameters.lengths.lowerBound)
    sendMTU = max(Int(outgoing), ChannelParameters.lengths.lowerBound)
    buffer = [UInt8](repeating: 0, count: receiveMTU)
    // A packet fits whole or not at all. It is cut into pieces, of 23 octets at the least, and the kernel counts nearly
    // 1 KiB for each.
    _ = cbz_set_send_buffer(descriptor.number, Int32(max(65_536, (sendMTU / 23 + 2) * 1024)))
    link.add(self)
    do throws(SystemError) {
      try descriptor.whenReady(on: context.loop, interest: [], priority: .normal) { [weak self] in self?.ready($0) }
    } catch {
      self.error = error
      isEnding = true
    }
  }

  var isWritable: Bool { waiting == nil && !hasEnded }

  func send(_ packet: [UInt8]) {
    guard !hasEnded, deadline == nil, waiting == nil, !isEnding else { return }
    if !write(packet) {
      waiting = packet
      updateInterest()
    }
  }

  func close() {
    onEvent = nil
    guard !hasEnded, deadline == nil else { return }
    deadline = context.scheduler.now.advanced(by: Self.departure)
    updateInterest()
    leave()
  }

  /// The link has ended.
  func linkEnded(_ reason: BluetoothError) {
    linkEnd = linkEnd ?? GAPError.disconnected.error("the link ended: \(reason)")
    guard deadline == nil else { return finish() }
    isEnding = true
    descriptor.unwatch()
    if isReading { readSoon() }
  }

  /// Closes the socket as soon as sent packets have left it.
  private func leave() {
    guard !hasEnded, let deadline else { return }
    if let packet = waiting, write(packet) { waiting = nil }
    let isEmpty = waiting == nil && cbz_send_load(descriptor.number) <= 0
    guard !isEmpty, !isEnding, error == nil, context.scheduler.now < deadline else { return finish() }
    context.scheduler.schedule(after: Self.glance) { [self] in leave() }
  }

  private func finish() {
    hasEnded = true
    descriptor.close()
    link?.remove(self)
  }

  private func updateInterest() {
    var interest: Watch.Readiness = isReading && deadline == nil ? .readable : []
    if waiting != nil, deadline == nil { interest.insert(.writable) }
    descriptor.interest = interest
  }

  private func ready(_ readiness: Watch.Readiness) {
    guard !hasEnded else { return }
    if readiness.contains(.failed) {
      isEnding = true
      // The end is reported continuously, with or without reading.
      descriptor.unwatch()
    }
    if readiness.contains(.writable), let packet = waiting {
      if write(packet) {
        waiting = nil
        updateInterest()
        onEvent?(.writable)
      } else if !isEnding, cbz_send_load(descriptor.number) == 0 {
        // There is room, no packet is queued, and there will never be more room.
        return end(Self.tooLong(packet.count))
      }
    }
    readBurst()
  }

  private func readSoon() { context.scheduler.execute { [weak self] in self?.readBurst() } }

  /// - Returns: false if the packet has to wait.
  private func write(_ packet: [UInt8]) -> Bool {
    guard descriptor.isOpen, error == nil else { return true }
    do { return try descriptor.write(packet) } catch {
      // During encryption of the link, and after its end, which reading reports.
      if error.code == ENOTCONN { return isEnding }
      self.error = error
      isEnding = true
      descriptor.unwatch()
      readSoon()
      return true
    }
  }

  private func readBurst() {
    for _ in 0..<Self.burst {
      guard isReading, !hasEnded else { return }
      do throws(SystemError) {
        guard let length = try descriptor.read(into: &buffer) else {
          if isEnding { end() }
          return
        }
        guard length > 0 else {
          // An empty packet carries nothing. After the end, the first empty read may stand for the socket's error, with
          // packets behind it.
          if isEnding {
            if hasReadNothing { return end() }
            hasReadNothing = true
          }
          continue
        }
        if KernelFault.givesCreditsUnread, descriptor.receiveLoad.dropped > 0 { return overrun() }
        onEvent?(.received(Array(buffer[..<length])))
      } catch {
        // Packets that arrived before the error are read after it.
        if self.error != nil { return end() }
        self.error = error
        isEnding = true
        descriptor.unwatch()
      }
    }
    if isEnding { readSoon() }
  }

  private func overrun() {
    end(
      BledError.tooSlow.error(
        """
        packets of the channel were lost: this kernel does not stop a device whose packets are not read; read faster, or \
        use Linux 6.10 or newer
        """))
  }

  private func end(_ reason: BluetoothError? = nil) {
    guard !hasEnded else { return }
    // The controller reports the link's end before the kernel ends its sockets.
    let linkReason = linkEnd ?? (link?.isOver ?? true ? Self.linkGone : nil)
    finish()
    let tell = onEvent
    onEvent = nil
    tell?(.ended(reason ?? linkReason ?? GAPError.disconnected.error("the device closed the channel")))
  }

  private static func tooLong(_ count: Int) -> BluetoothError {
    BledError.invalidParameter.error(
      "a packet of \(count) octets does not fit into the kernel's buffer in pieces that the device takes: write less")
  }

  private static var linkGone: BluetoothError { GAPError.disconnected.error("the link ended") }
}
