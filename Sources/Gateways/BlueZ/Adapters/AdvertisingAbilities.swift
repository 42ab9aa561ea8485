import BledRPC
import Bluetooth

/// The advertisements that an adapter can send, as programs see them (BlueZ, org.bluez.LEAdvertisingManager).
struct AdvertisingAbilities: Equatable {
  /// The octets of a legacy PDU (Core 5.4, Vol 6, Part B, 2.3.1).
  static let legacyLength = 31
  /// The octets of a connectable extended advertisement, which is one PDU (2.3.4.1).
  static let connectableLength = 245

  /// The number of simultaneous advertisements announced to programs: bled shares the controller's sets.
  static let instances = 8

  /// The properties with the numbers of active and of further possible advertisements.
  static func counts(active: Int) -> ObjectTree.Properties {
    [
      ("ActiveInstances", .byte(UInt8(clamping: active))),
      ("SupportedInstances", .byte(UInt8(clamping: max(0, instances - active)))),
    ]
  }

  var longest = legacyLength
  var phys: Set<PHY> = [.le1M]
  var sets = 1

  /// The abilities that every adapter has, for an unknown one.
  init() {}

  /// - Returns: nil while the adapter is not on.
  init?(_ adapter: AdapterDescription) {
    guard let longest = adapter.longestAdvertisement, let sets = adapter.advertisingSets else { return nil }
    self.longest = longest
    self.sets = sets
    phys = Set((adapter.phys ?? []).compactMap(\.known))
  }

  private var isExtended: Bool { longest > Self.legacyLength }

  /// Sets the properties, without the ones missing with legacy commands.
  func show(_ path: String, _ tree: inout ObjectTree) {
    let length = BusValue.byte(UInt8(clamping: min(longest, Self.connectableLength)))
    // The powers are unknown before an advertisement is on the air.
    let capabilities = BusValue.options([("MaxAdvLen", length), ("MaxScnRspLen", length)])
    let features = (isExtended ? ["CanSetTxPower"] : []) + (sets > 1 ? ["HardwareOffload"] : [])
    let values: [(String, BusValue?)] = [
      ("SupportedIncludes", .strings(["tx-power", "local-name"])),
      ("SupportedSecondaryChannels", isExtended ? .strings(channels) : nil),
      ("SupportedCapabilities", capabilities),
      ("SupportedFeatures", .strings(features)),
    ]
    for (name, value) in values { tree.set(path, .advertisingManager, name, value) }
  }

  private var channels: [String] {
    [(PHY.le1M, "1M"), (.le2M, "2M"), (.leCoded, "Coded")].filter { phys.contains($0.0) }.map(\.1)
  }
}
