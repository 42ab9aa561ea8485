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

/// The way between a host and a virtual controller. It loses and delays nothing.
final class VirtualTransport: PacketTransport {
  var onEvent: ((TransportEvent) -> Void)?
  let arrival: Instant? = nil
  let obstacle: String? = nil
  private let controller: VirtualController

  init(to controller: VirtualController) { self.controller = controller }

  func start() {
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
    do throws(HCICodingError) { controller.receive(try HCIPacket(decoding: packet)) } catch {
      controller.air.onFault?("a packet of a host cannot be decoded: \(error)")
    }
  }

  func deliver(_ packet: HCIPacket) { onEvent?(.packet(packet.octets)) }

  /// Delivers a packet that has lost its last octet.
  func deliver(damaged packet: HCIPacket) { onEvent?(.packet(packet.octets.dropLast())) }

  /// The controller is gone.
  func end(_ reason: String) {
    controller.host = nil
    controller.air.scheduler.execute { [weak self] in self?.onEvent?(.ended(reason)) }
  }

  func awaitCompletions(_ isAwaited: Bool) -> Bool { true }
  func takeCompletions(_ most: Int, _ body: (ArraySlice<UInt8>) -> Void) {}

  func close() {
    onEvent = nil
    guard controller.host === self else { return }
    controller.host = nil
    controller.reset()
  }

  /// The host is gone: its activities end, and the air releases the controller.
  deinit { if controller.host == nil { controller.reset() } }
}
