import Adapter
import Bluetooth
import HCI

/// Brings the list of devices watched by the controller (Core 6.0, Vol 4, Part E, 7.8.146 to 7.8.150) to its wanted
/// state, while the scan is off.
///
/// | Actual         | Wanted      | Next command     | Then, or if it is refused               |
/// |----------------|-------------|------------------|-----------------------------------------|
/// | off            | none        | –                |                                         |
/// | off            | devices     | clear            | filling; refused                        |
/// | filling        | the same    | add the next     | filling; refused                        |
/// | filling, all   | the same    | enable           | on; refused                             |
/// | filling        | others      | as off           |                                         |
/// | on, unknown    | others      | disable          | off; off                                |
///
/// A refused list is not repeated: the scan's reports cover its devices.
struct WatchList {
  private enum Actual: Hashable {
    case off
    case filling(WatchedDevices, rest: [LEAddDeviceToMonitoredAdvertisersList])
    case on(WatchedDevices)
    case unknown
  }

  private enum Step: Hashable {
    case disable
    case clear(WatchedDevices)
    case add
    case enable(WatchedDevices)
  }

  private let size: Int
  private var actual: Actual
  private var step: Step?
  private var refused: WatchedDevices?

  /// - Parameter size: the capacity of the controller's list; 0 if it has none.
  init(size: Int) {
    self.size = size
    // An earlier owner may have left something.
    actual = size > 0 ? .unknown : .off
  }

  /// True if the controller watches for nothing, as far as known.
  var isOff: Bool { if case .on = actual { false } else { step == nil } }

  /// True if the controller can watch for these devices.
  func accepts(_ devices: WatchedDevices) -> Bool {
    1...max(1, size) ~= devices.timeouts.count && size > 0 && refused != devices
  }

  mutating func nextCommand<Family: CommandFamily>(_ wanted: WatchedDevices?) -> FamilyCommand<Family>? {
    switch (actual, wanted) {
    case (.off, nil), (.filling, nil): return nil
    case (.on(let current), let wanted?) where current == wanted: return nil
    case (.on, _), (.unknown, _): return send(.disable)
    case (.filling(let current, let rest), let wanted?) where current == wanted:
      return rest.isEmpty ? send(.enable(wanted)) : send(.add)
    case (_, let wanted?): return send(.clear(wanted))
    }
  }

  private mutating func send<Family: CommandFamily>(_ step: Step) -> FamilyCommand<Family> {
    self.step = step
    switch step {
    case .disable: return FamilyCommand(LEEnableMonitoringAdvertisers { $0.isEnabled = false })
    case .clear: return FamilyCommand(LEClearMonitoredAdvertisersList())
    case .enable: return FamilyCommand(LEEnableMonitoringAdvertisers { $0.isEnabled = true })
    case .add:
      guard case .filling(_, let rest) = actual, let next = rest.first else {
        return FamilyCommand(LEClearMonitoredAdvertisersList())
      }
      return FamilyCommand(next)
    }
  }

  /// Takes the answer to the last command.
  /// - Returns: false if the devices cannot be watched for.
  mutating func answered(_ status: HCIStatus) -> Bool {
    defer { step = nil }
    switch step {
    case nil: return true
    case .disable: actual = .off
    case .clear(let devices) where status.isSuccess:
      actual = .filling(devices, rest: Self.additions(devices))
    case .add where status.isSuccess:
      guard case .filling(let devices, let rest) = actual else { return true }
      actual = .filling(devices, rest: Array(rest.dropFirst()))
    case .enable(let devices) where status.isSuccess: actual = .on(devices)
    case .clear(let devices), .enable(let devices): return refuse(devices)
    case .add:
      guard case .filling(let devices, _) = actual else { return true }
      return refuse(devices)
    }
    return true
  }

  private mutating func refuse(_ devices: WatchedDevices) -> Bool {
    actual = .off
    refused = devices
    return false
  }

  private static func additions(_ devices: WatchedDevices) -> [LEAddDeviceToMonitoredAdvertisersList] {
    devices.timeouts.sorted {
      ($0.key.value, $0.key.kind.rawValue) < ($1.key.value, $1.key.kind.rawValue)
    }.map { address, timeout in
      LEAddDeviceToMonitoredAdvertisersList {
        $0.peer = HCIAddress(address)
        $0.timeout = UInt8(clamping: timeout)
      }
    }
  }

  /// The controller's state is not known.
  mutating func doubt() { actual = size > 0 ? .unknown : .off }

  /// The controller was reset.
  mutating func wasReset() {
    actual = .off
    step = nil
  }
}
