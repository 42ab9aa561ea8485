import HCI

/// The change by another program's command, or the kernel's own.
enum ForeignCommand: Hashable {
  case scan
  case advertising
  case initiating
  /// The controller was reset.
  case reset
  /// A link could not be encrypted: the kernel has no key for it.
  case missingKey(ConnectionHandle)
  case other

  /// The change made by an executed command.
  init(_ answer: CommandSlot.Answer) {
    self =
      switch answer.opcode {
      case LELongTermKeyRequestNegativeReply.opcode:
        (try? answer.complete?.decoded(as: LELongTermKeyRequestNegativeReply.self)).map { .missingKey($0.value) }
          ?? .other
      case LESetScanParameters.opcode, LESetScanEnable.opcode, LESetExtendedScanParameters.opcode,
        LESetExtendedScanEnable.opcode:
        .scan
      case LESetAdvertisingParameters.opcode, LESetAdvertisingData.opcode, LESetAdvertisingEnable.opcode,
        LESetExtendedAdvertisingEnable.opcode, LERemoveAdvertisingSet.opcode, LEClearAdvertisingSets.opcode:
        .advertising
      case LECreateConnection.opcode, LEExtendedCreateConnection.opcode, LEClearFilterAcceptList.opcode,
        LEAddDeviceToFilterAcceptList.opcode, LERemoveDeviceFromFilterAcceptList.opcode:
        .initiating
      case Self.resetCommand: .reset
      default: .other
      }
  }

  /// The kernel's first commands when the system goes to sleep.
  static var preludes: [Opcode] {
    [
      LESetScanEnable.opcode, LESetExtendedScanEnable.opcode, LESetAdvertisingEnable.opcode,
      LESetExtendedAdvertisingEnable.opcode, Disconnect.opcode,
    ]
  }

  private static var resetCommand: Opcode { 0x0C03 }
}
