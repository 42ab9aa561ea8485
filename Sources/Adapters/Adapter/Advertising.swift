import Bluetooth

/// The number of an advertisement, chosen by the adapter's owner.
public struct AdvertisingSetID: Hashable, Sendable {
  /// The number.
  public let value: UInt32
  /// Makes an identifier from a number.
  public init(_ value: UInt32) { self.value = value }
}

/// An advertising set's parameters (Core 5.4, Vol 4, Part E, 7.8.5 and 7.8.53).
public struct AdvertisingParameters: Hashable, Sendable {
  /// The devices permitted to answer an advertisement (Core 5.4, Vol 6, Part B, 4.4.2).
  public enum Kind: Hashable, Sendable {
    /// Any device may connect, and with legacy PDUs request the scan response.
    case connectable
    /// Any device may request the scan response.
    case scannable
    /// No device.
    case nonconnectable
    /// This device alone may connect. With the high duty cycle it is called at least every 3.75 ms, for 1.28 s at the
    /// most (4.4.2.4.3).
    case directed(DeviceAddress, isHighDuty: Bool)
  }

  /// The devices permitted to answer.
  public var kind: Kind
  /// The intended time between two advertising events, 20 ms to 10.24 s; the high duty cycle has its own.
  public var interval: Duration
  /// The advertising data; the adapter adds nothing to it. Empty for scannable advertisements with extended PDUs, and
  /// for directed ones with legacy PDUs.
  public var data: [UInt8]
  /// The scan response data; empty for none. Extended PDUs have it only if they are scannable.
  public var scanResponse: [UInt8]
  /// True for extended PDUs, received only by scanners with Bluetooth 5.0 and later, in place of legacy PDUs.
  public var isExtended = false
  /// True to omit our address; only for extended PDUs without answers.
  public var isAnonymous = false
  /// True to include the transmit power in the header; extended PDUs only.
  public var includesTxPower = false
  /// The intended transmit power, −127 to 20 dBm; the controller's choice if nil.
  public var txPower: Int?
  /// The primary channels.
  public var channels = AdvertisingChannels.all
  /// The static random address to advertise with; the adapter's own if nil.
  public var ownAddress: DeviceAddress?
  /// The primary channels' PHY: LE 1M, or for extended PDUs LE Coded.
  public var primaryPHY = PHY.le1M
  /// The required coding on the primary channels if their PHY is LE Coded; the controller's choice if nil.
  public var primaryCoding: LinkPHY.Coding?
  /// The PHY on which extended PDUs continue.
  public var secondaryPHY = PHY.le1M
  /// The required coding there if the PHY is LE Coded; the controller's choice if nil.
  public var secondaryCoding: LinkPHY.Coding?
  /// The number of advertising events until its end, 1 to 255; unlimited if nil.
  public var maximumEvents: UInt8?
  /// True to address the target, given by identity, under a private address if the controller can generate it.
  public var callsPrivately = false
  /// True if the controller replaces the target's identity address by a private one; set by adapters.
  public var resolvesTarget = false
  /// The announced train of periodic advertisements; only for extended PDUs without answers, with an address.
  public var periodic: PeriodicAdvertising?

  /// Makes advertising parameters for legacy PDUs.
  public init(kind: Kind, interval: Duration = .milliseconds(100), data: [UInt8], scanResponse: [UInt8] = []) {
    self.kind = kind
    self.interval = interval
    self.data = data
    self.scanResponse = scanResponse
  }

  /// Makes advertising parameters for legacy PDUs; a non-connectable advertisement is scannable if there is a scan
  /// response.
  public init(
    isConnectable: Bool = true, interval: Duration = .milliseconds(100), data: [UInt8], scanResponse: [UInt8] = []
  ) {
    self.init(
      kind: isConnectable ? .connectable : scanResponse.isEmpty ? .nonconnectable : .scannable, interval: interval,
      data: data, scanResponse: scanResponse)
  }
}

extension AdvertisingParameters {
  /// True if connections are accepted.
  public var isConnectable: Bool {
    switch kind {
    case .connectable, .directed: true
    case .scannable, .nonconnectable: false
    }
  }

  /// True if scan requests are answered. Connectable legacy PDUs are scannable by definition; connectable extended ones
  /// cannot be.
  public var isScannable: Bool { kind == .scannable || kind == .connectable && !isExtended }

  /// The only device permitted to connect.
  public var target: DeviceAddress? { if case .directed(let target, _) = kind { target } else { nil } }

  /// True for addressing one device as often as possible, for a short time.
  public var isHighDuty: Bool { if case .directed(_, isHighDuty: true) = kind { true } else { false } }

  /// True if a coding is required.
  public var choosesCoding: Bool { primaryCoding != nil || secondaryCoding != nil }

  /// True if the controller ends it by itself.
  public var endsByItself: Bool { isHighDuty || maximumEvents != nil }

  /// True if it keeps an advertising set to itself: trains cannot be followed if they take turns.
  public var isPinned: Bool { periodic != nil }

  /// Maximum duration of directed advertising with the high duty cycle (Core 5.4, Vol 6, Part B, 4.4.2.4.3).
  public static var highDutyDuration: Duration { .milliseconds(1280) }
}

/// The three channels for primary advertising (Core 5.4, Vol 4, Part E, 7.8.5).
public struct AdvertisingChannels: OptionSet, Hashable, Sendable {
  /// Bits 0 to 2: channels 37 to 39.
  public let rawValue: UInt8
  /// Makes a set of channels from its bits.
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// Channels 37, 38 and 39.
  public static let all = AdvertisingChannels(rawValue: 7)

  /// A single channel.
  /// - Returns: nil for others than 37, 38 and 39.
  public init?(number: Int) {
    guard (37...39).contains(number) else { return nil }
    self.init(rawValue: 1 << UInt8(number - 37))
  }
}

/// A wanted advertisement's state.
public enum AdvertisingStatus: Hashable, Sendable {
  /// The set is on the air, with this interval, and with this transmit power in dBm, if one was requested and the
  /// controller reported its choice.
  case on(interval: Duration, txPower: Int? = nil)
  /// The set is off the air for now and returns automatically.
  case off
  /// The set has done its task, and does not return.
  case ended(AdvertisingEnd)
  /// The set cannot be sent.
  case failed(BluetoothError)
}
