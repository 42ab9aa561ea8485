import HCI

/// What another program's command, or the kernel's own, changes.
enum ForeignCommand {
  case scan
  case advertising
  case initiating
  /// It was reset.
  case reset
  /// A link could not be encrypted: the kernel has no key for it.
  case missingKey
  case other

  /// What a command with this opcode changes when it was executed.
  init(_ opcode: Opcode) {
    self =
      switch opcode {
      case LELongTermKeyRequestNegativeReply.opcode: .missingKey
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

  /// What the kernel begins with when the system goes to sleep.
  static var preludes: [Opcode] {
    [
      LESetScanEnable.opcode, LESetExtendedScanEnable.opcode, LESetAdvertisingEnable.opcode,
      LESetExtendedAdvertisingEnable.opcode, Disconnect.opcode,
    ]
  }

  private static var resetCommand: Opcode { 0x0C03 }
}
