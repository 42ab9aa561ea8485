/// LE Set Host Feature (Core 5.4, Vol 4, Part E, 7.8.115). Disallowed while there is a link.
package struct LESetHostFeature: HCICommand {
  package static let opcode: Opcode = 0x2074
  /// The feature's bit number, among the host's bits (Vol 6, Part B, 4.6).
  package var bit: UInt8 = 0
  /// 0 not supported, 1 supported.
  package var value: UInt8 = 0

  package init() {}
  package mutating func code(with coder: inout OctetCoder) { coder.fields(&bit, &value) }
}

/// LE Set Default Subrate (Core 5.4, Vol 4, Part E, 7.8.123): the values peripherals may request on links initiated by
/// us from now on.
package struct LESetDefaultSubrate: HCICommand {
  package static let opcode: Opcode = 0x207D
  /// 1 to 500.
  package var subrateMin: UInt16 = 1
  /// 1 to 500; times `maximumLatency` + 1 at most 500.
  package var subrateMax: UInt16 = 1
  /// Subrated events the peripheral may skip, 0 to 499.
  package var maximumLatency: UInt16 = 0
  /// 0 to 499, less than `subrateMax`.
  package var continuationNumber: UInt16 = 0
  /// 0x000A to 0x0C80, in 10 ms.
  package var supervisionTimeout: UInt16 = 0x0C80

  package init() {}
  package mutating func code(with coder: inout OctetCoder) {
    coder.fields(&subrateMin, &subrateMax, &maximumLatency, &continuationNumber, &supervisionTimeout)
  }
}

/// LE Subrate Request (Core 5.4, Vol 4, Part E, 7.8.124). The outcome is LE Subrate Change.
package struct LESubrateRequest: HCICommand {
  package static let opcode: Opcode = 0x207E
  package var handle: ConnectionHandle = 0
  /// 1 to 500.
  package var subrateMin: UInt16 = 1
  /// 1 to 500; times `maximumLatency` + 1 at most 500.
  package var subrateMax: UInt16 = 1
  /// Subrated events the peripheral may skip, 0 to 499.
  package var maximumLatency: UInt16 = 0
  /// Further events used after one with data, 0 to 499, less than `subrateMax`.
  package var continuationNumber: UInt16 = 0
  /// 0x000A to 0x0C80, in 10 ms.
  package var supervisionTimeout: UInt16 = 0x0C80

  package init() {}
  package mutating func code(with coder: inout OctetCoder) {
    coder.fields(&handle, &subrateMin, &subrateMax, &maximumLatency, &continuationNumber, &supervisionTimeout)
  }
}
