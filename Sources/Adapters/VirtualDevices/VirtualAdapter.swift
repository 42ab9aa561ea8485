import Adapter
import Bluetooth
import BluetoothCrypto
import Controllers
import Scenarios
import VirtualController

/// An adapter for the daemon: a host of our own, as over a socket or a serial line, on a controller of the air.
package final class VirtualAdapter {
  /// The adapter, as the daemon uses it.
  package let host: HostAdapter
  let controller: VirtualController

  /// The usual time in which the controller starts.
  private static let startTime = Duration.milliseconds(20)

  init(_ id: String, _ scenario: Scenario, on world: VirtualAir) {
    let description = scenario.adapter
    let address = description.address(ofAdapter: id)
    var model = ControllerModel(description, address: address)
    // A stopped clock would keep it off until a test advances it.
    model.startTime = description.startDelay ?? (scenario.clock == .manual ? .zero : Self.startTime)
    controller = VirtualController(model, on: world.air)
    host = HostAdapter(
      .virtual(id), by: VirtualTransports(to: controller), spare: address, scheduler: world.context.scheduler,
      logger: world.logger)
    host.maximumMTU = description.mtu
    host.random = world.context.generator(Stream.secrets.of(address))
    host.onPairing = { [weak world] device, event in
      if case .showPasskey(let passkey, _) = event { world?.show(passkey, to: device) }
    }
  }

  /// The bonds with a device, as the device has them.
  /// - Parameter signature: the device's key for signatures, which its bonds contain.
  func bonds(of device: DeviceAddress, _ signature: Key128) -> [Bond] {
    let local = host.information.address
    let key = signature.littleEndian
    return (host.bonds?.all ?? []).lazy
      .filter { bond in
        bond.local == local && bond.peer == device && bond.signatureKeys.contains { !$0.isOurs && $0.value == key }
      }
      .map { $0.ofOtherSide(self.host.identityResolvingKey) }
  }

  /// The controller is unplugged.
  package func vanish() { controller.isPlugged = false }

  /// The controller is plugged in again, and works.
  package func comeBack() {
    controller.repair()
    controller.isPlugged = true
    host.lookAgain()
  }

  /// The controller reports an error, and does not answer any longer.
  package func stopAnswering() { controller.fail() }
}
