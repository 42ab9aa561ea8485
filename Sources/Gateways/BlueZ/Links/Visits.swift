import BledRPC
import Bluetooth

/// The devices that have connected to this machine: their services are discovered in the facade's own session, so that
/// programs find them (BlueZ, main.conf, ReverseServiceDiscovery). bled ends no link of theirs for that session's sake.
final class Visits {
  /// Timeout for bled to give an existing link, in seconds.
  private static let timeout = 1.0

  private let context: Context
  private let own: OwnSession
  private let devices: Devices
  private let services: Services
  private let resolution: Resolution
  /// bled's names of the devices that the session visits.
  private var visitors: Set<String> = []

  init(_ context: Context, _ own: OwnSession, _ devices: Devices, _ services: Services, _ resolution: Resolution) {
    self.context = context
    self.own = own
    self.devices = devices
    self.services = services
    self.resolution = resolution
  }

  /// A device that has connected is shown.
  func began(_ device: Device) {
    let params = PeripheralConnect.Params(
      peripheral: device.key.peripheral, adapter: device.key.adapter, timeout: Self.timeout)
    own.session.call(PeripheralConnect.self, params) { [weak self] result in
      // Without the permission its services are the ones a connecting program sees.
      guard let self, case .success(let link) = result else { return }
      guard devices.flag(device.path, "Connected"), devices[device.path]?.key.peripheral == link.peripheral else {
        return own.session.callUnawaited(
          PeripheralDisconnect.self, PeripheralDisconnect.Params(peripheral: link.peripheral))
      }
      visitors.insert(link.peripheral)
      services.link(device.path, mtu: link.mtu)
      resolution.begin(device.path, own)
      context.flush()
    }
  }

  /// bled reports that a link has ended.
  func ended(_ peripheral: String) { visitors.remove(peripheral) }

  /// The connection to bled is lost, and all links with it.
  func forgetAll() { visitors = [] }

  /// A device's object is about to be removed.
  func leaving(_ device: Device) {
    guard visitors.remove(device.key.peripheral) != nil else { return }
    own.session.callUnawaited(PeripheralDisconnect.self, PeripheralDisconnect.Params(peripheral: device.key.peripheral))
  }
}
