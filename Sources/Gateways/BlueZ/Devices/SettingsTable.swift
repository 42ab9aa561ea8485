/// The settings of all devices, by "address type", for instance "C0:DE:00:00:00:01 random". At the limit the device set
/// the longest ago is removed, trusted ones after the others.
struct SettingsTable {
  static let maximum = 256

  private(set) var entries: [String: DeviceSettings]
  private var lastOrder: Int

  /// - Parameter entries: the stored ones; invalid and surplus ones are left out.
  init(_ entries: [String: DeviceSettings]) {
    self.entries = entries.filter { $0.value.isValid && $0.key.utf8.count <= Self.longestKey }
    lastOrder = self.entries.values.compactMap(\.order).max() ?? 0
    while self.entries.count > Self.maximum, let first = next { self.entries[first] = nil }
  }

  /// "C0:DE:00:00:00:01 random"
  private static let longestKey = 24

  /// True if a device is the last one set.
  func isNewest(_ key: String) -> Bool { entries[key]?.order == lastOrder }

  subscript(key: String) -> DeviceSettings? { entries[key] }

  /// Changes the settings of a device.
  /// - Returns: the device that has given way.
  mutating func change(_ key: String, _ change: (inout DeviceSettings) -> Void) -> String? {
    var setting = entries[key] ?? DeviceSettings()
    change(&setting)
    guard !setting.isDefault else {
      entries[key] = nil
      return nil
    }
    let victim = entries[key] == nil && entries.count >= Self.maximum ? next : nil
    if let victim { entries[victim] = nil }
    lastOrder &+= 1
    setting.order = lastOrder
    entries[key] = setting
    return victim
  }

  /// A device has another address.
  /// - Returns: true if there were any settings.
  mutating func move(_ key: String, to other: String) -> Bool {
    guard let setting = entries.removeValue(forKey: key) else { return false }
    entries[other] = setting
    return true
  }

  /// - Returns: true if there were any.
  mutating func remove(_ key: String) -> Bool { entries.removeValue(forKey: key) != nil }

  /// The device to remove next.
  private var next: String? {
    entries.min { rank($0.value) < rank($1.value) }?.key
  }

  private func rank(_ setting: DeviceSettings) -> (Int, Int) { (setting.isTrusted ? 1 : 0, setting.order ?? 0) }
}
