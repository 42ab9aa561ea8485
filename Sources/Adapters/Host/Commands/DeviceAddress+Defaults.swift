import Bluetooth

extension DeviceAddress {
  /// The default public addresses of controllers without their own: all controllers with such an address would be one
  /// device to others. They are listed in the kernel's driver for Broadcom's chips (drivers/bluetooth/btbcm.c).
  private static let defaults: Set<UInt64> = [
    // BCM20702A0, BCM20702A1, BCM2076B1.
    0x0020_7002_A000, 0x2070_02A0_0000, 0x2076_A000_5679,
    // BCM4324B3, BCM4330B1, BCM4334B0.
    0x4324_B300_0000, 0x4330_B100_0000, 0x4334_B000_0000,
    // BCM43341B, BCM43430A0, BCM43430A1, BCM4345C5.
    0x4334_1B00_1FAC, 0x4343_A012_1FAC, 0x4343_A112_1FAC, 0x4345_C500_1FAC,
  ]

  /// True for an invalid public address: octets that are all alike, or a maker's default.
  var isNoIdentity: Bool {
    let octet = value & 0xFF
    return value == octet * 0x0101_0101_0101 || Self.defaults.contains(value)
  }
}
