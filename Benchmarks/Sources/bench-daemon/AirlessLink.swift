import Adapter
import Bluetooth
import EventLoop
import Glibc

/// A link to a device that is a few tables and an `if`, so that it costs next to nothing beside the daemon.
///
/// 0x0001 service FFF0 · 0x0003 FFF1, 20 octets, read and write · 0x0005 FFF2, write: octets 0–3 a number of values
/// (little-endian, as all) that are then notified, 4–7 the microseconds between them; or octet 8 is 1, and that many
/// advertisements are heard, of as many devices as octets 4–7 say · 0x0007 FFF3, notify, 20 octets that begin with
/// CLOCK_MONOTONIC in nanoseconds · 0x0008 its configuration.
final class AirlessLink: Link {
  /// How many packets come in one turn of the loop.
  static let burst = 64

  let id = LinkID.next()
  let peer: DeviceAddress
  let role = LinkRole.central
  let parameters: LinkParameters? = nil
  let layer = LinkLayer()
  let attempts = 1
  let security = LinkSecurity.none
  let maximumMTU = 517
  let hasEnhancedChannels = false
  let isWritable = true
  var onEvent: ((LinkEvent) -> Void)?
  var isReading = true {
    didSet {
      guard isReading, let resume else { return }
      self.resume = nil
      loop.execute(resume)
    }
  }

  private let loop: EventLoop
  private let report: (_ count: Int, _ devices: Int) -> Void
  private var arrived: [[UInt8]] = []
  /// The work with which the device goes on when the link is read again.
  private var resume: (() -> Void)?

  init(peer: DeviceAddress, loop: EventLoop, report: @escaping (Int, Int) -> Void) {
    self.peer = peer
    self.loop = loop
    self.report = report
  }

  func send(_ packet: [UInt8]) {
    guard let answer = answer(to: packet) else { return }
    arrived.append(answer)
    if arrived.count == 1 { loop.execute { [self] in deliver() } }
  }

  func disconnect() {
    loop.execute { [self] in
      let tell = onEvent
      onEvent = nil
      tell?(.ended(BluetoothError(domain: .hci, code: 0x16, name: "connectionTerminatedByLocalHost", message: "done")))
    }
  }

  func request(_ parameters: ConnectionParameters, _ done: @escaping (BluetoothError?) -> Void) {
    loop.execute { done(nil) }
  }

  func request(_ phy: LinkPHY, _ done: @escaping (BluetoothError?) -> Void) { loop.execute { done(nil) } }

  func openChannel(
    to psm: UInt16, _ parameters: ChannelParameters,
    _ done: @escaping (Result<any Channel, BluetoothError>) -> Void
  ) {
    loop.execute { done(.failure(GAPError.notSupported.error("there are no channels here"))) }
  }

  func raiseSecurity(
    to level: Int, as capability: PairingCapability, usesOwnData: Bool, replacesBond: Bool,
    _ done: @escaping (BluetoothError?) -> Void
  ) {
    loop.execute { done(AirlessAdapter.nothingPairs) }
  }

  func transfer(_ train: TransferredTrain, serviceData: UInt16, _ done: @escaping (BluetoothError?) -> Void) {
    loop.execute { done(AirlessAdapter.noTrains) }
  }

  func receiveTrain(
    _ parameters: SyncParameters, _ done: @escaping (Result<ReceivedTrain, BluetoothError>) -> Void
  ) {
    loop.execute { done(.failure(AirlessAdapter.noTrains)) }
  }

  func stopReceivingTrain() {}

  func request(longestPacket octets: Int, _ done: @escaping (BluetoothError?) -> Void) { loop.execute { done(nil) } }

  func readRSSI(_ done: @escaping (Result<Int, BluetoothError>) -> Void) { loop.execute { done(.success(-60)) } }

  private func deliver() {
    let packets = arrived
    arrived.removeAll(keepingCapacity: true)
    for packet in packets { onEvent?(.received(packet)) }
  }

  // MARK: The device

  private func answer(to packet: [UInt8]) -> [UInt8]? {
    guard let opcode = packet.first else { return nil }
    let start = packet.count >= 3 ? UInt16(packet[1]) | UInt16(packet[2]) << 8 : 0
    switch opcode {
    case 0x02: return [0x03, 0x05, 0x02]
    case 0x10 where start <= 1: return [0x11, 6, 1, 0, 8, 0, 0xF0, 0xFF]
    case 0x08 where packet.count == 7 && packet[5] == 0x03 && start <= 2:
      return [
        0x09, 7, 2, 0, 0x0A, 3, 0, 0xF1, 0xFF, 4, 0, 0x08, 5, 0, 0xF2, 0xFF, 6, 0, 0x10, 7, 0, 0xF3, 0xFF,
      ]
    case 0x04 where start <= 8: return [0x05, 1, 8, 0, 0x02, 0x29]
    case 0x0A: return [0x0B] + Array(repeating: 1, count: 20)
    case 0x12:
      if start == 5, packet.count == 12 { command(Array(packet.dropFirst(3))) }
      return [0x13]
    case 0x52: return nil
    default: return [0x01, opcode, UInt8(truncatingIfNeeded: start), UInt8(truncatingIfNeeded: start >> 8), 0x0A]
    }
  }

  private func command(_ octets: [UInt8]) {
    func word(_ at: Int) -> Int { (0..<4).reduce(0) { $0 | Int(octets[at + $1]) << (8 * $1) } }
    let (count, other, isScan) = (word(0), word(4), octets[8] == 1)
    loop.execute { [self] in
      if isScan { report(count, other) } else { notify(count, every: .microseconds(Int64(other))) }
    }
  }

  private func notify(_ count: Int, every pause: Duration) {
    guard isReading else { return resume = { [self] in notify(count, every: pause) } }
    let now = pause == .zero ? min(count, Self.burst) : min(count, 1)
    for _ in 0..<now {
      var time = timespec()
      clock_gettime(CLOCK_MONOTONIC, &time)
      let nanoseconds = UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
      let stamp = (0..<8).map { UInt8(truncatingIfNeeded: nanoseconds >> (8 * UInt64($0))) }
      onEvent?(.received([0x1B, 7, 0] + stamp + Array(repeating: 0, count: 12)))
    }
    guard count > now else { return }
    if pause == .zero {
      loop.execute { [self] in notify(count - now, every: pause) }
    } else {
      _ = loop.schedule(at: EventLoop.now + pause.components.attoseconds / 1_000_000_000) { [self] in
        notify(count - now, every: pause)
      }
    }
  }
}
