import Adapter
import Bluetooth

/// The services for links: their protection, and channels on them.
final class KernelServices: LinkServices {
  private let raises: SecurityRaises
  private let channels: KernelChannels

  init(_ raises: SecurityRaises, _ channels: KernelChannels) {
    self.raises = raises
    self.channels = channels
  }

  var hasEnhancedChannels: Bool { channels.hasEnhancedChannels }

  func openChannel(
    to psm: UInt16, _ parameters: ChannelParameters, on link: KernelLink,
    _ done: @escaping (Result<any Channel, BluetoothError>) -> Void
  ) { channels.open(to: psm, parameters, on: link, done) }

  func raiseSecurity(
    of link: KernelLink, to level: Int, as capability: PairingCapability, _ done: @escaping (BluetoothError?) -> Void
  ) { raises.raise(link, to: level, as: capability, done) }

  func encrypt(_ link: KernelLink, to level: Int, _ done: @escaping (BluetoothError?) -> Void) {
    raises.encrypt(link, to: level, done)
  }

  func securityMayHaveChanged(_ link: KernelLink) { raises.securityMayHaveChanged(link) }
}
