import Adapter
import Bluetooth
import HCI
import Radio

extension KernelAdapter {
  /// How long the kernel may take to process what it has passed on to us already.
  private static let lag = Duration.milliseconds(100)

  /// The kernel dropped events that were not read in time: what the controller does is not known any more.
  func eventsLost() {
    guard radio != nil else { return }
    run(radio: .doubt)
    repeatRequests()
    doubtAlarm =
      doubtAlarm
      ?? scheduler.schedule(after: Self.lag) { [weak self] in
        self?.doubtAlarm = nil
        self?.compareLinks(offered: nil)
        for handle in self?.links.keys.sorted() ?? [] { self?.updateSecurity(handle) }
      }
  }

  /// Whether a link is up, after all that the controller has told: when the kernel is asked for a pairing or a channel
  /// with a device whose link has ended, it connects to the device by itself, for as long as it likes.
  func isUp(_ link: KernelLink) -> Bool {
    hci?.control.drain()
    guard let index, let hci, radio != nil, links[link.handle] === link, !link.isDown else { return false }
    return kernel.links(of: index, over: hci.control.descriptor)?.contains { $0.handle == link.handle } ?? true
  }

  /// Asks the kernel, which misses no event, for its links. Only what it says both before and after all events that
  /// wait were read is taken.
  ///
  /// This is not mgmt's Get Connections, which knows neither the handle nor the role.
  /// - Parameter offered: whose link the kernel offers; its list lacks the type of addresses.
  func compareLinks(offered: DeviceAddress?) {
    guard let index, let hci, radio != nil, let before = kernel.links(of: index, over: hci.control.descriptor)
    else { return }
    hci.control.drain()
    // Draining may have ended the radio.
    guard radio != nil, hci === self.hci, let after = kernel.links(of: index, over: hci.control.descriptor)
    else { return }
    let links = before.filter(after.contains).map { link in
      let candidates = [offered].compactMap { $0 } + targets.connects.keys
      let peer = candidates.first { $0.value == link.address } ?? DeviceAddress(value: link.address, kind: .random)
      return ExistingLink(handle: link.handle, role: link.role, peer: peer)
    }
    run(radio: .links(links))
  }
}
