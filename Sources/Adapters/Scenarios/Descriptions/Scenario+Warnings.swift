import Bluetooth

extension Scenario {
  /// How many warnings of a kind are given one by one.
  private static let maximumWarnings = 8

  /// Sentences about devices that are valid, and mostly a mistake: several of one name, a name that was cut to fit, a
  /// name that is not advertised.
  public var warnings: [String] {
    var owners: [OctetText: Int] = [:]
    for device in devices { owners[OctetText(device.name), default: 0] += 1 }
    let shared = devices.filter { owners.removeValue(forKey: OctetText($0.name)).map { $0 > 1 } ?? false }.map {
      "several devices are called \($0.name.quoted): commands with this name are ambiguous"
    }
    let names = devices.compactMap(\.nameWarning)
    return Self.bounded(shared) + Self.bounded(names)
  }

  private static func bounded(_ warnings: [String]) -> [String] {
    guard warnings.count > maximumWarnings else { return warnings }
    let rest = warnings.count - maximumWarnings
    return warnings.prefix(maximumWarnings) + ["\(rest) more devices have names with this problem"]
  }
}

extension DeviceDescription {
  fileprivate var nameWarning: String? {
    guard let advertised = AdvertisingData(parsing: data + scanResponse).localName else {
      return """
        \(name.quoted) advertises no name, so a scan shows its address alone: give "name" in "advertising" to change that
        """
    }
    guard !advertised.hasSameOctets(as: name) else { return nil }
    return name.hasPrefix(advertised)
      ? "\(name.quoted) advertises the name \(advertised.quoted), which was cut to fit: give a \"scanResponse\" with it"
      : "\(name.quoted) advertises another name, \(advertised.quoted)"
  }
}

extension String {
  fileprivate var quoted: String { "\"\(excerpt)\"" }
}
