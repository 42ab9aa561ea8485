import Adapter
import Bluetooth
import HCI
import Host

/// A controller that is being taken out of use: runs `HostTearDown` by the clock on its transport, then closes it.
final class LeavingController {
  private let transport: any PacketTransport
  private let taps: HostTaps
  private let context: AdapterContext
  private let done: () -> Void
  private var machine: HostTearDown
  private var alarm: (any ScheduledWork)?

  /// - Parameters:
  ///   - transport: an open one, which has no other user from now on.
  ///   - taps: the recordings of its packets.
  ///   - done: called once, when the transport is closed; not from inside of this call.
  init(
    _ transport: any PacketTransport, _ machine: HostTearDown, _ taps: HostTaps, in context: AdapterContext,
    _ done: @escaping () -> Void
  ) {
    self.transport = transport
    self.machine = machine
    self.taps = taps
    self.context = context
    self.done = done
    transport.onEvent = { [weak self] event in self?.handle(event) }
    run { $0.start(at: context.scheduler.now) }
  }

  private func handle(_ event: TransportEvent) {
    switch event {
    case .packet(let octets):
      taps.tell(octets, isSent: false)
      guard case .event(let packet)? = try? HCIPacket(decoding: octets), let event = try? HCIEvent(decoding: packet)
      else { return }
      run { $0.handle(event, at: self.context.scheduler.now) }
    case .ended, .refused: end()
    case .starting, .opened, .skipped: break
    }
  }

  private func run(_ step: (inout HostTearDown) -> [HostTearDown.Action]) {
    for action in step(&machine) {
      switch action {
      case .send(let packet):
        let octets = HCIPacket.command(packet).octets
        taps.tell(octets, isSent: true)
        transport.send(octets)
      case .done: return end()
      }
    }
    context.arm(&alarm, at: machine.deadline) { [weak self] now in self?.run { $0.tick(at: now) } }
  }

  private func end() {
    alarm?.cancel()
    alarm = nil
    transport.close()
    done()
  }
}
