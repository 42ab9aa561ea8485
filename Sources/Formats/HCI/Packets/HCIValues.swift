import Bluetooth

/// The link of a command, an event or data, 0x0000 to 0x0EFF.
package typealias ConnectionHandle = UInt16

/// HCI's address types; more of them than devices have.
package struct AddressType: RawRepresentable, PacketField, Hashable, Sendable {
  /// The octet on the wire.
  package let rawValue: UInt8
  package init() { rawValue = 0 }
  /// Makes a type from the octet on the wire; all are accepted.
  package init(rawValue: UInt8) { self.rawValue = rawValue }

  /// A public device address.
  package static let `public` = AddressType(rawValue: 0)
  /// A random device address.
  package static let random = AddressType(rawValue: 1)
  /// A public identity address resolved by the controller.
  package static let publicIdentity = AddressType(rawValue: 2)
  /// A random identity address resolved by the controller.
  package static let randomIdentity = AddressType(rawValue: 3)
  /// No address: an anonymous advertisement.
  package static let anonymous = AddressType(rawValue: 0xFF)
}

/// An address with its type, as commands and events of HCI carry it.
package struct HCIAddress: PacketParameters {
  /// The type.
  package var type = AddressType.public
  /// The 48 bits as a number.
  package var value: UInt64 = 0

  /// All bits zero.
  package init() {}
  /// A device's address.
  package init(_ device: DeviceAddress) {
    type = device.kind == .public ? .public : .random
    value = device.value
  }
  package mutating func code(with coder: inout OctetCoder) {
    coder.fields(&type)
    coder.number(&value, octets: 6)
  }

  /// The device behind it; nil for an anonymous one and unknown types.
  package var device: DeviceAddress? {
    switch type {
    case .public, .publicIdentity: DeviceAddress(value: value, kind: .public)
    case .random, .randomIdentity: DeviceAddress(value: value, kind: .random)
    default: nil
    }
  }
}

/// Durations in the controller's units. A value out of range becomes the nearest one within.
package enum TimeUnits {
  /// The number of units with `microseconds` each, rounded to the nearest.
  package static func units<Number: FixedWidthInteger>(
    _ duration: Duration, of microseconds: Int64, within range: ClosedRange<Number>
  ) -> Number {
    let unit = microseconds * 1000
    let nanoseconds = max(0, duration.wholeNanoseconds)
    let rounded = nanoseconds / unit + (nanoseconds % unit * 2 >= unit ? 1 : 0)
    return min(max(Number(clamping: rounded), range.lowerBound), range.upperBound)
  }

  /// Scan intervals and windows in 0.625 ms, 2.5 ms to 10.24 s (Core 5.4, Vol 4, Part E, 7.8.10).
  package static func scan(_ duration: Duration) -> UInt16 { units(duration, of: 625, within: 0x0004...0x4000) }
  /// Legacy advertising intervals in 0.625 ms, 20 ms to 10.24 s (7.8.5).
  package static func advertising(_ duration: Duration) -> UInt16 { units(duration, of: 625, within: 0x0020...0x4000) }
  /// Connection intervals in 1.25 ms, 7.5 ms to 4 s (7.8.12).
  package static func connection(_ duration: Duration) -> UInt16 { units(duration, of: 1250, within: 0x0006...0x0C80) }
  /// Connection intervals in 0.125 ms, 0.375 ms to 4 s (Core 6.2, Vol 4, Part E, 7.8.154).
  package static func rate(_ duration: Duration) -> UInt16 { units(duration, of: 125, within: 0x0003...0x7D00) }
  /// Supervision timeouts in 10 ms, 100 ms to 32 s (7.8.12).
  package static func supervision(_ duration: Duration) -> UInt16 {
    units(duration, of: 10_000, within: 0x000A...0x0C80)
  }

  /// Periodic advertising intervals in 1.25 ms, 7.5 ms to 81.91875 s (7.8.61).
  package static func periodic(_ duration: Duration) -> UInt16 { units(duration, of: 1250, within: 0x0006...0xFFFF) }

  /// Intervals of subevents in 1.25 ms, 7.5 to 318.75 ms (7.8.61).
  package static func subevent(_ duration: Duration) -> UInt8 { units(duration, of: 1250, within: 0x06...0xFF) }
  /// Delays of the first slot in 1.25 ms, 1.25 to 317.5 ms (7.8.61).
  package static func slotDelay(_ duration: Duration) -> UInt8 { units(duration, of: 1250, within: 0x01...0xFE) }
  /// Times between slots in 0.125 ms, 0.25 to 31.875 ms (7.8.61).
  package static func slotSpacing(_ duration: Duration) -> UInt8 { units(duration, of: 125, within: 0x02...0xFF) }

  /// The timeout of a periodic train, in 10 ms, 100 ms to 163.84 s (7.8.67).
  package static func syncTimeout(_ duration: Duration) -> UInt16 {
    units(duration, of: 10_000, within: 0x000A...0x4000)
  }

  /// The duration of `count` units of 0.625 ms.
  package static func slots(_ count: UInt16) -> Duration { .microseconds(Int64(count) * 625) }
  /// The duration of `count` units of 1.25 ms.
  package static func connectionUnits(_ count: UInt16) -> Duration { .microseconds(Int64(count) * 1250) }
  /// The duration of `count` units of 0.125 ms.
  package static func rateUnits(_ count: UInt16) -> Duration { .microseconds(Int64(count) * 125) }
  /// The duration of `count` units of 10 ms.
  package static func supervisionUnits(_ count: UInt16) -> Duration { .milliseconds(Int64(count) * 10) }
}
