/// Values that are a number out of a list.
extension AssignedValue {
  /// Body Sensor Location, 0x2A38 (GATT Specification Supplement, 3.35).
  static func bodySensorLocation(_ value: UInt8) -> String {
    name(value, of: ["other", "chest", "wrist", "finger", "hand", "ear lobe", "foot"]) ?? "location \(value)"
  }

  /// Temperature Type, 0x2A1D (GATT Specification Supplement, 3.219).
  static func temperatureType(_ value: UInt8) -> String {
    let names = [
      nil, "armpit", "body", "ear", "finger", "gastro-intestinal tract", "mouth", "rectum", "toe", "tympanum",
    ]
    return name(value, of: names) ?? "type \(value)"
  }

  /// Sensor Location, 0x2A5D (GATT Specification Supplement, 3.203).
  static func sensorLocation(_ value: UInt8) -> String {
    let names = [
      "other", "top of shoe", "in shoe", "hip", "front wheel", "left crank", "right crank", "left pedal",
      "right pedal", "front hub", "rear dropout", "chainstay", "rear wheel", "rear hub", "chest", "spider",
      "chain ring",
    ]
    return name(value, of: names) ?? "location \(value)"
  }

  /// The name at the place of a number; nil beyond the end of the list.
  static func name(_ value: UInt8, of names: [String?]) -> String? {
    names.indices.contains(Int(value)) ? names[Int(value)] : nil
  }

  /// The names of the bits that are set, the lowest first; "off" for none.
  static func flags(_ bits: UInt16, _ names: [String]) -> String {
    let set = names.enumerated().filter { bits & 1 << UInt16($0.offset) != 0 }.map(\.element)
    return set.isEmpty ? "off" : set.joined(separator: ", ")
  }
}
