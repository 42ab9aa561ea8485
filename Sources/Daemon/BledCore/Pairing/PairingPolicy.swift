import Adapter
import Bluetooth

/// The answers to pairings where no session is there to be asked.
public struct PairingPolicy: Hashable, Sendable {
  /// The answer to a device.
  public enum Rule: Hashable, Sendable {
    /// No device can pair by itself, and questions are answered with no.
    case refuse
    /// Any device can pair, without any check.
    case justWorks
    /// The device shows this passkey, 0 to 999999, which is typed here.
    case passkey(UInt32)
  }

  /// For devices that nothing else concerns.
  public var standard = Rule.refuse
  /// By the name of the adapter, or its address as `DeviceAddress` writes it.
  public var adapters: [String: Rule] = [:]
  /// By the identity address of the device, public or random.
  public var peripherals: [UInt64: Rule] = [:]

  /// A rule for all devices; by default nothing pairs by itself.
  public init(standard: Rule = .refuse) { self.standard = standard }

  /// The rule for devices on an adapter that are not named.
  func rule(on adapter: AdapterInformation) -> Rule {
    adapters[adapter.id] ?? adapters["\(adapter.address)"] ?? standard
  }

  /// The rule for a device.
  func rule(for peer: DeviceAddress, on adapter: AdapterInformation) -> Rule {
    peripherals[peer.value] ?? rule(on: adapter)
  }

  /// The capability that devices see where no program gives one: a keyboard, if a passkey is to be typed. Just Works
  /// takes precedence, as a keyboard would have devices show a passkey.
  func capability(on adapter: AdapterInformation) -> PairingCapability {
    switch rule(on: adapter) {
    case .passkey: .keyboard
    case .justWorks: .none
    case .refuse: peripherals.values.contains(where: \.isPasskey) ? .keyboard : .none
    }
  }

  /// Whether some device may pair by itself on an adapter.
  func acceptsSome(on adapter: AdapterInformation) -> Bool {
    rule(on: adapter) != .refuse || peripherals.values.contains { $0 != .refuse }
  }

  /// Whether a passkey is in it, which can be found by repeated pairings.
  public var hasPasskey: Bool {
    ([standard] + adapters.values + peripherals.values).contains(where: \.isPasskey)
  }
}

extension PairingPolicy.Rule {
  fileprivate var isPasskey: Bool {
    if case .passkey = self { true } else { false }
  }
}

/// Bounds how often a fixed passkey is used: each pairing that fails tells the other side a bit of it (Core 5.4, Vol 3,
/// Part H, 2.3.5.6.3).
///
/// | Failures in a row | 1   | 2   | … | 9     | 10                                       |
/// |-------------------|-----|-----|---|-------|------------------------------------------|
/// | Not used for      | 2 s | 4 s | … | 512 s | ever, until the configuration is reloaded |
struct PasskeyBrake {
  static let maximumFailures = 10

  private(set) var failures = 0
  private var pauseEnd = Instant.zero

  func allows(at now: Instant) -> Bool { failures < Self.maximumFailures && now >= pauseEnd }

  mutating func failed(at now: Instant) {
    failures = min(failures + 1, Self.maximumFailures)
    pauseEnd = now.advanced(by: .seconds(1 << failures))
  }
}
