import Bluetooth

/// The links of programs that are not on the bus, and of devices that have connected to this machine: they are shown,
/// too, but not before a pending link of a program on the bus.
final class ForeignLinks {
  /// The pause before a link is shown: a link of a program on the bus is shown at its answer.
  private static let pause = Duration.milliseconds(250)

  private let context: Context
  private let devices: Devices
  /// The links before they are shown, by bled's name of the device.
  private var unseen: [String: any ScheduledWork] = [:]
  /// The links that are not shown because a pending call of Connect may get them.
  private var withheld: Set<String> = []
  /// The devices that have made the link.
  private var incoming: Set<String> = []
  /// Returns true if a call of Connect waits for a device.
  var isAwaited: (String) -> Bool = { _ in false }
  /// A device that has made the link itself is shown as connected.
  var visited: (Device) -> Void = { _ in }

  init(_ context: Context, _ devices: Devices) {
    self.context = context
    self.devices = devices
  }

  /// There is a link to a device.
  /// - Parameter isIncoming: true if the device has made it.
  func began(_ peripheral: String, isIncoming: Bool) {
    forget(peripheral)
    if isIncoming { incoming.insert(peripheral) }
    unseen[peripheral] = context.schedule(after: Self.pause) { [weak self] in
      guard let self else { return }
      unseen[peripheral] = nil
      reveal(peripheral)
    }
  }

  /// Shows a link. A call of Connect that waits shows it when it is of use; until then it may end, and another begin.
  private func reveal(_ peripheral: String) {
    let known = devices.all(peripheral)
    guard !known.contains(where: { devices.flag($0.path, "Connected") }), let device = known.first else { return }
    if known.contains(where: { isAwaited($0.path) }) {
      withheld.insert(peripheral)
    } else {
      devices.set(device.path, "Connected", .boolean(true))
      if incoming.contains(peripheral) { visited(device) }
    }
  }

  /// A call of Connect has ended: its program may not have got the link that others have.
  func attemptEnded(_ path: String) {
    guard let device = devices[path], withheld.remove(device.key.peripheral) != nil else { return }
    reveal(device.key.peripheral)
  }

  /// A link is no longer to be shown.
  func forget(_ peripheral: String) {
    unseen.removeValue(forKey: peripheral)?.cancel()
    withheld.remove(peripheral)
    incoming.remove(peripheral)
  }

  /// The connection to bled is lost, and all links with it.
  func forgetAll() {
    for work in unseen.values { work.cancel() }
    unseen = [:]
    withheld = []
    incoming = []
  }
}
