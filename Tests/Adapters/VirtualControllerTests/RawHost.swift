import Adapter
import Bluetooth
import Controllers
import HCI

@testable import VirtualController

/// A host that sends single commands, for what a controller must refuse.
final class RawHost {
  let controller: VirtualController
  private(set) var events: [HCIEvent] = []
  private let scheduler: VirtualScheduler
  private let transport: any PacketTransport

  init(
    _ number: UInt64, on air: Air, _ scheduler: VirtualScheduler, _ change: (inout ControllerModel) -> Void = { _ in }
  )
    throws
  {
    var model = ControllerModel(address: 0x0011_2233_5500 + number)
    change(&model)
    self.scheduler = scheduler
    controller = VirtualController(model, on: air)
    transport = try VirtualTransports(to: controller).open()
    transport.onEvent = { [unowned self] event in
      guard case .packet(let octets) = event, case .event(let packet)? = try? HCIPacket(decoding: octets),
        let event = try? HCIEvent(decoding: packet)
      else { return }
      events.append(event)
    }
    try transport.start()
    scheduler.advance(by: .zero)
    // All events.
    ask(LESetEventMask { $0.mask = .max })
  }

  var address: HCIAddress { HCIAddress(DeviceAddress(value: controller.model.address, kind: .public)) }

  /// Sends a command.
  /// - Returns: the status of the answer; nil without one.
  @discardableResult func ask(_ command: some HCICommand) -> HCIErrorCode? {
    let count = events.count
    transport.send(HCIPacket.command(CommandPacket(command)).octets)
    scheduler.advance(by: .zero)
    for event in events[count...] {
      switch event {
      case .commandComplete(let complete):
        return complete.returnParameters.first.flatMap { HCIErrorCode(rawValue: $0) }
      case .commandStatus(let status): return status.status.code
      default: continue
      }
    }
    return nil
  }

  func forget() { events = [] }
}
