/// LE Set Periodic Advertising Parameters [v2] (Core 5.4, Vol 4, Part E, 7.8.61): a train with subevents, and slots for
/// responses from devices.
package struct LESetPeriodicAdvertisingParametersV2: HCICommand {
  package typealias Family = ExtendedFamily
  package static let opcode: Opcode = 0x2086
  /// The parameters of every train.
  package var parameters = LESetPeriodicAdvertisingParameters()
  /// 1 to 128; 0 for a train without subevents.
  package var subevents: UInt8 = 0
  /// Time between the starts of two subevents, 0x06 to 0xFF, in 1.25 ms.
  package var subeventInterval: UInt8 = 0
  /// Time between a subevent's start and its first slot, 0x01 to 0xFE, in 1.25 ms.
  package var slotDelay: UInt8 = 0
  /// Time between the starts of two slots, 0x02 to 0xFF, in 0.125 ms.
  package var slotSpacing: UInt8 = 0
  /// Slots per subevent, 1 to 255.
  package var slots: UInt8 = 0

  package init() {}
  package mutating func code(with coder: inout OctetCoder) {
    coder.fields(&parameters)
    coder.fields(&subevents, &subeventInterval, &slotDelay, &slotSpacing, &slots)
  }
}

/// LE Set Periodic Advertising Subevent Data (Core 5.4, Vol 4, Part E, 7.8.125).
package struct LESetPeriodicAdvertisingSubeventData: HCICommand {
  package typealias Family = ExtendedFamily
  package static let opcode: Opcode = 0x2082

  /// A subevent's data, and the slots for its responses.
  package struct Subevent: PacketParameters {
    /// The subevent, 0 to 127.
    package var number: UInt8 = 0
    /// The first slot.
    package var firstSlot: UInt8 = 0
    /// The number of slots.
    package var slots: UInt8 = 0
    /// At the most `longest` octets.
    package var data: [UInt8] = []

    package init() {}
    package mutating func code(with coder: inout OctetCoder) {
      coder.fields(&number, &firstSlot, &slots)
      coder.octets(&data, countedBy: UInt8.self, limit: LESetPeriodicAdvertisingSubeventData.longest)
    }
  }

  /// As many octets of data as a command with one subevent has room for.
  package static let longest = 249
  /// As many subevents as a command can have.
  package static let maximum = 15
  /// As many octets as each subevent needs beside its data.
  package static let fixed = 4

  /// The set, 0x00 to 0xEF.
  package var advertisingHandle: UInt8 = 0
  /// 1 to 15 of them.
  package var subevents: [Subevent] = []

  package init() {}
  package mutating func code(with coder: inout OctetCoder) {
    coder.fields(&advertisingHandle)
    coder.groups(&subevents, countedBy: UInt8.self, limit: Self.maximum)
  }
}

/// LE Set Periodic Sync Subevent (Core 5.4, Vol 4, Part E, 7.8.127): the train's subevents to receive from now on,
/// replacing earlier ones.
package struct LESetPeriodicSyncSubevent: HCICommand {
  package static let opcode: Opcode = 0x2084

  /// The train, 0x0000 to 0x0EFF.
  package var syncHandle: UInt16 = 0
  /// Bit 6: the transmit power is in the header of responses.
  package var properties: UInt16 = 0
  /// 1 to 128 numbers of subevents.
  package var subevents: [UInt8] = []

  package init() {}
  package mutating func code(with coder: inout OctetCoder) {
    coder.fields(&syncHandle, &properties)
    coder.octets(&subevents, countedBy: UInt8.self, limit: 128)
  }
}

/// LE Set Periodic Advertising Response Data (Core 5.4, Vol 4, Part E, 7.8.126): sent once, in the slot's next
/// occurrence.
package struct LESetPeriodicAdvertisingResponseData: HCICommand {
  package static let opcode: Opcode = 0x2083
  /// As many octets of data as a command has room for.
  package static let longest = 247

  /// The train, 0x0000 to 0x0EFF.
  package var syncHandle: UInt16 = 0
  /// The event number of the answered packet.
  package var requestEvent: UInt16 = 0
  /// That packet's subevent, 0 to 127.
  package var requestSubevent: UInt8 = 0
  /// The response's subevent, 0 to 127.
  package var responseSubevent: UInt8 = 0
  /// The response's slot.
  package var slot: UInt8 = 0
  /// At the most `longest` octets.
  package var data: [UInt8] = []

  package init() {}
  package mutating func code(with coder: inout OctetCoder) {
    coder.fields(&syncHandle, &requestEvent, &requestSubevent, &responseSubevent, &slot)
    coder.octets(&data, countedBy: UInt8.self, limit: Self.longest)
  }
}
