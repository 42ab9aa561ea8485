/// A link's interval and subrating, as in the commands for connection rates.
package struct ConnectionRate: PacketParameters {
  /// 0x0003 to 0x7D00, in 0.125 ms.
  package var intervalMin: UInt16 = 0x0003
  /// 0x0003 to 0x7D00, in 0.125 ms.
  package var intervalMax: UInt16 = 0x7D00
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
  /// 0x0001 to 0x3E7F, in 0.125 ms.
  package var minimumCELength: UInt16 = 0x0001
  /// 0x0001 to 0x3E7F, in 0.125 ms.
  package var maximumCELength: UInt16 = 0x3E7F

  package init() {}
  package mutating func code(with coder: inout OctetCoder) {
    coder.fields(&intervalMin, &intervalMax, &subrateMin, &subrateMax, &maximumLatency)
    coder.fields(&continuationNumber, &supervisionTimeout, &minimumCELength, &maximumCELength)
  }
}

/// LE Connection Rate Request (Core 6.2, Vol 4, Part E, 7.8.154). The outcome is LE Connection Rate Change.
package struct LEConnectionRateRequest: HCICommand {
  package static let opcode: Opcode = 0x20A1
  package var handle: ConnectionHandle = 0
  package var rate = ConnectionRate()

  package init() {}
  package mutating func code(with coder: inout OctetCoder) { coder.fields(&handle, &rate) }
}

/// LE Set Default Rate Parameters (Core 6.2, Vol 4, Part E, 7.8.155): the rates peripherals may request on links
/// initiated by us from now on.
package struct LESetDefaultRateParameters: HCICommand {
  package static let opcode: Opcode = 0x20A2
  package var rate = ConnectionRate()

  package init() {}
  package mutating func code(with coder: inout OctetCoder) { coder.fields(&rate) }
}

/// LE Read Minimum Supported Connection Interval (Core 6.2, Vol 4, Part E, 7.8.156).
package struct LEReadMinimumSupportedConnectionInterval: HCICommand, WithoutParameters {
  package static let opcode: Opcode = 0x20A3
  package init() {}

  /// The shortest interval; groups of intervals follow, and are not read.
  package struct ReturnParameters: HCIReturnParameters {
    package var status = HCIStatus.success
    /// In 0.125 ms.
    package var shortest: UInt8 = 0x03

    package init() {}
    package mutating func code(with coder: inout OctetCoder) { coder.fields(&status, &shortest) }
  }
}
