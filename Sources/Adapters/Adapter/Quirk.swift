/// A trait of certain controllers that their answers do not show, most often a fault.
public enum Quirk: Hashable, Sendable {
  /// A kind of activity beside links; all scans are one kind.
  public enum Activity: String, CaseIterable, Sendable {
    /// Looking for a device to connect to it.
    case connecting
    /// Sending advertisements that can be connected to.
    case connectableAdvertising
    /// Sending advertisements that can be scanned but not connected to.
    case scannableAdvertising
    /// Sending advertisements that can only be heard.
    case broadcasting
    /// Listening for advertisements.
    case scanning
  }

  /// Extended scanning is accepted and reports nothing, or is not executed.
  case extendedScanning
  /// LE Extended Create Connection is not executed.
  case extendedConnecting
  /// The first activity is refused beside the second, though the controller says that they go together (Core 5.4,
  /// Vol 4, Part E, 7.8.27).
  case exclusion(Activity, beside: Activity)
  /// LE Set Event Mask is refused with events of versions after 4.0.
  case eventMask
  /// Devices of the resolving list are reported under their private addresses.
  case addressResolution
  /// A scan fell silent until the adapter was opened anew.
  case silence
  /// The firmware restarted by itself.
  case restarts
  /// Read Static Addresses of Zephyr is there (Zephyr's include/zephyr/bluetooth/hci_vs.h). No fault.
  case staticAddresses
  /// Flow control to the host can be relied on: most controllers claim it, and no system has used it there. No fault.
  case flowControl

  /// True if it keeps something from working.
  public var isFault: Bool {
    switch self {
    case .staticAddresses, .flowControl: false
    default: true
    }
  }

  /// The name on the socket, in metrics and in files.
  public var name: String {
    switch self {
    case .extendedScanning: "extendedScanning"
    case .extendedConnecting: "extendedConnecting"
    case .exclusion(let one, let other): "\(one.rawValue) beside \(other.rawValue)"
    case .eventMask: "eventMask"
    case .addressResolution: "addressResolution"
    case .silence: "silence"
    case .restarts: "restarts"
    case .staticAddresses: "staticAddresses"
    case .flowControl: "flowControl"
    }
  }

  /// Reads a name, which may come from outside; nil for any other text.
  public init?(name: String) {
    guard let quirk = Self.learnable.first(where: { $0.name.utf8.elementsEqual(name.utf8) }) else { return nil }
    self = quirk
  }

  /// The quirks that the use of a controller can show.
  static let learnable: [Quirk] =
    [.extendedScanning, .extendedConnecting, .eventMask, .addressResolution, .silence, .restarts]
    + Activity.allCases.flatMap { one in
      Activity.allCases.filter { $0 != one }.map { .exclusion(one, beside: $0) }
    }

  /// The fault and its consequence, for people.
  var words: String {
    switch self {
    case .extendedScanning: "extended scanning receives nothing: legacy commands are used"
    case .extendedConnecting: "it does not execute LE Extended Create Connection: legacy commands are used"
    case .exclusion(let one, let other):
      "it refuses \(one.words) beside \(other.words), which it claims to support: they take turns"
    case .eventMask: "it refuses events of later versions than 4.0, which are not received"
    case .addressResolution: "it does not resolve private addresses, though it claims to: bled does"
    case .silence: "a scan fell silent, and the adapter was opened anew"
    case .restarts: "its firmware restarted by itself: the adapter is opened anew, once in an hour"
    case .staticAddresses: "it tells the static addresses that its maker gave it"
    case .flowControl: "its flow control to the host works"
    }
  }
}

extension Quirk.Activity {
  fileprivate var words: String {
    switch self {
    case .connecting: "connecting"
    case .connectableAdvertising: "connectable advertising"
    case .scannableAdvertising: "scannable advertising"
    case .broadcasting: "non-connectable advertising"
    case .scanning: "scanning"
    }
  }
}
