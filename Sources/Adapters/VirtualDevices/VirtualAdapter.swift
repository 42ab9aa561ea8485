import Adapter
import Bluetooth
import Controllers
import Scenarios
import VirtualController

/// An adapter for the daemon: a host of our own, as over a socket or a serial line, on a controller of the air.
package final class VirtualAdapter {
  /// The adapter, as the daemon uses it.
  package let host: HostAdapter
  private let controller: VirtualController

  init(_ id: String, _ description: AdapterDescription, on world: VirtualAir) {
    let address = description.address(ofAdapter: id)
    controller = VirtualController(ControllerModel(description, address: address), on: world.air)
    host = HostAdapter(
      .virtual(id), by: VirtualTransports(to: controller), spare: address, scheduler: world.context.scheduler,
      logger: world.logger)
    let passkey = world.passkey
    host.changeTerms = { $0.secrets.passkey = passkey }
  }

  /// The controller is unplugged.
  package func vanish() { controller.isPlugged = false }

  /// The controller is plugged in again, and works.
  package func comeBack() { (controller.isSilent, controller.isPlugged) = (false, true) }

  /// The controller does not answer any longer.
  package func stopAnswering() { controller.isSilent = true }
}
