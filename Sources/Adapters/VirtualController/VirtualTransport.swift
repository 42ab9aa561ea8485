import Bluetooth
import Controllers
import Glibc
import HCI

/// Transports to a virtual controller, in memory.
package final class VirtualTransports: TransportSource {
  private let controller: VirtualController
  package let modalias = ""

  package init(to controller: VirtualController) { self.controller = controller }

  package func open() throws(SystemError) -> any PacketTransport {
    guard controller.isPlugged else { throw SystemError(result: -ENODEV) }
    guard !controller.isBroken else { throw SystemError(result: -EIO) }
    return VirtualTransport(to: controller)
  }
}

/// The way between a host and a virtual controller. It loses nothing, and delays only reports of transmitted packets.
final class VirtualTransport: PacketTransport {
  var onEvent: ((TransportEvent) -> Void)?
  let arrival: Instant? = nil
  let obstacle: String? = nil
  private let controller: VirtualController
  /// True if reports of transmitted packets are delivered at once.
  private var isAwaited = false
  /// The withheld ones, by link.
  private var completed: [(handle: ConnectionHandle, packets: UInt16)] = []

  init(to controller: VirtualController) { self.controller = controller }

  func start() {
    (isAwaited, completed) = (false, [])
    controller.reset()
    controller.host = self
    let scheduler = controller.air.scheduler
    guard controller.model.startTime > .zero else {
      return scheduler.execute { [weak self] in self?.onEvent?(.opened) }
    }
    scheduler.execute { [weak self] in self?.onEvent?(.starting) }
    scheduler.schedule(after: controller.model.startTime) { [weak self] in
      guard let self, controller.host === self else { return }
      onEvent?(.opened)
    }
  }

  func send(_ packet: [UInt8]) {
    guard controller.host === self else { return }
    do throws(HCICodingError) {
      if let data = try ACLDataPacket(packet: packet) { return controller.send(data) }
      controller.receive(try HCIPacket(decoding: packet))
    } catch {
      controller.air.onFault?("a packet of a host cannot be decoded: \(error)")
    }
  }

  func deliver(_ event: EventPacket) { onEvent?(.packet(HCIPacket.event(event).octets)) }

  /// Delivers data.
  /// - Parameter isDamaged: true if they have lost their last octet.
  func deliver(_ data: ACLDataPacket, isDamaged: Bool) {
    let octets = data.octetsFromController
    onEvent?(.packet(isDamaged ? octets.dropLast() : octets))
  }

  /// The controller is gone.
  func end(_ reason: String) {
    controller.host = nil
    controller.air.scheduler.execute { [weak self] in self?.onEvent?(.ended(reason)) }
  }

  // MARK: - Reports of transmitted packets

  /// Withholds a report unless the host waits for one.
  /// - Returns: false if the report is to be delivered.
  func withhold(_ packets: UInt16, on handle: ConnectionHandle) -> Bool {
    guard !isAwaited else { return false }
    if let place = completed.lastIndex(where: { $0.handle == handle }) {
      let sum = completed[place].packets.addingReportingOverflow(packets)
      if !sum.overflow {
        completed[place].packets = sum.partialValue
        return true
      }
    }
    completed.append((handle, packets))
    return true
  }

  func awaitCompletions(_ isAwaited: Bool) -> Bool {
    self.isAwaited = isAwaited
    guard isAwaited, !completed.isEmpty else { return isAwaited }
    controller.air.scheduler.execute { [weak self] in
      self?.takeCompletions(.max) { self?.onEvent?(.packet(Array($0))) }
    }
    return isAwaited
  }

  /// Takes all of them.
  func takeCompletions(_ most: Int, _ body: (ArraySlice<UInt8>) -> Void) {
    guard !completed.isEmpty else { return }
    let reports = completed
    completed = []
    for (handle, packets) in reports {
      let report = NumberOfCompletedPackets(packets, on: handle)
      body(HCIPacket.event(HCIEvent.numberOfCompletedPackets(report).packet).octets[...])
    }
  }

  func close() {
    onEvent = nil
    guard controller.host === self else { return }
    controller.host = nil
    controller.reset()
  }

  /// The host is gone: its activities end, and the air releases the controller.
  deinit { if controller.host == nil { controller.reset() } }
}

extension ACLDataPacket {
  /// The whole packet, as a controller delivers it: written in place, as this is done for each packet of data.
  fileprivate var octetsFromController: [UInt8] {
    var octets: [UInt8] = []
    octets.reserveCapacity(Self.prefix + data.count)
    octets.append(contentsOf: repeatElement(0, count: Self.prefix))
    octets.append(contentsOf: data)
    Self.begin(&octets, handle: handle, isFirst: boundary != 1)
    // The first piece has another number than one to the controller.
    if boundary != 1 { octets[2] |= 2 << 4 }
    return octets
  }
}

extension NumberOfCompletedPackets {
  /// Reports packets of one link.
  init(_ packets: UInt16, on handle: ConnectionHandle) {
    self.init { $0.links = [Link { ($0.handle, $0.packets) = (handle, packets) }] }
  }
}
