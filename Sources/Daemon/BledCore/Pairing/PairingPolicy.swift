import Adapter
import Bluetooth

/// The answers to pairings without a session to ask.
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

  /// For all other devices.
  public var standard = Rule.refuse
  /// By adapter name, or adapter address in `DeviceAddress` format.
  public var adapters: [String: Rule] = [:]
  /// By the device's identity address, public or random.
  public var peripherals: [UInt64: Rule] = [:]

  /// A rule for all devices; by default nothing pairs by itself.
  public init(standard: Rule = .refuse) { self.standard = standard }

  /// The rule for unnamed devices on an adapter.
  func rule(on adapter: AdapterInformation) -> Rule {
    adapters[adapter.id] ?? adapters["\(adapter.address)"] ?? standard
  }

  /// The rule for a device.
  func rule(for peer: DeviceAddress, on adapter: AdapterInformation) -> Rule {
    peripherals[peer.value] ?? rule(on: adapter)
  }

  /// The capability announced without a program's: a keyboard, if a passkey is to be typed. Just Works takes
  /// precedence, as a keyboard would let devices show a passkey.
  func capability(on adapter: AdapterInformation) -> PairingCapability {
    switch rule(on: adapter) {
    case .passkey: .keyboard
    case .justWorks: .none
    case .refuse: peripherals.values.contains(where: \.isPasskey) ? .keyboard : .none
    }
  }

  /// True if any device may initiate pairing on an adapter.
  func acceptsSome(on adapter: AdapterInformation) -> Bool {
    rule(on: adapter) != .refuse || peripherals.values.contains { $0 != .refuse }
  }

  /// True if it contains a passkey, which repeated pairings can reveal.
  public var hasPasskey: Bool {
    ([standard] + adapters.values + peripherals.values).contains(where: \.isPasskey)
  }
}

extension PairingPolicy.Rule {
  fileprivate var isPasskey: Bool {
    if case .passkey = self { true } else { false }
  }
}

/// Limits the use of a fixed passkey: each failed pairing reveals a bit of it to the other side (Core 5.4, Vol 3, Part
/// H, 2.3.5.6.3).
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
