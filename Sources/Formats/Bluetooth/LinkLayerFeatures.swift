/// The features of a controller's Link Layer (Core 6.2, Vol 6, Part B, 4.6).
public struct LinkLayerFeatures: Hashable, Sendable {
  /// The numbers of their bits, from 0 on, in ascending order.
  public let numbers: [Int]

  /// Reads a feature set.
  /// - Parameter octets: the octets, the lowest bits first.
  public init(_ octets: some Sequence<UInt8>) {
    numbers = octets.enumerated().flatMap { place, octet in
      (0..<8).filter { octet >> $0 & 1 == 1 }.map { place * 8 + $0 }
    }
  }

  /// Takes a feature set apart.
  /// - Parameter words: 64 features each, the lowest first.
  public init(words: [UInt64]) {
    self.init(words.flatMap { word in (0..<8).map { UInt8(truncatingIfNeeded: word >> ($0 * 8)) } })
  }

  /// Their names in the specification, or "unknown feature bit 75".
  public var names: [String] { numbers.map { Self.names[$0] ?? "unknown feature bit \($0)" } }

  private static let names: [Int: String] = [
    0: "LE Encryption", 1: "Connection Parameters Request Procedure", 2: "Extended Reject Indication",
    3: "Peripheral-initiated Features Exchange", 4: "LE Ping", 5: "LE Data Packet Length Extension", 6: "LL Privacy",
    7: "Extended Scanning Filter Policies", 8: "LE 2M PHY", 9: "Stable Modulation Index - Transmitter",
    10: "Stable Modulation Index - Receiver", 11: "LE Coded PHY", 12: "LE Extended Advertising",
    13: "LE Periodic Advertising", 14: "Channel Selection Algorithm #2", 15: "LE Power Class 1",
    16: "Minimum Number of Used Channels Procedure", 17: "Connection CTE Request", 18: "Connection CTE Response",
    19: "Connectionless CTE Transmitter", 20: "Connectionless CTE Receiver",
    21: "Antenna Switching During CTE Transmission (AoD)", 22: "Antenna Switching During CTE Reception (AoA)",
    23: "Receiving Constant Tone Extensions", 24: "Periodic Advertising Sync Transfer - Sender",
    25: "Periodic Advertising Sync Transfer - Recipient", 26: "Sleep Clock Accuracy Updates",
    27: "Remote Public Key Validation", 28: "Connected Isochronous Stream - Central",
    29: "Connected Isochronous Stream - Peripheral", 30: "Isochronous Broadcaster", 31: "Synchronized Receiver",
    32: "Connected Isochronous Stream (Host Support)", 33: "LE Power Control Request",
    34: "LE Power Control Request (second bit)", 35: "LE Path Loss Monitoring",
    36: "Periodic Advertising ADI support", 37: "Connection Subrating", 38: "Connection Subrating (Host Support)",
    39: "Channel Classification", 40: "Advertising Coding Selection",
    41: "Advertising Coding Selection (Host Support)", 42: "Decision-Based Advertising Filtering",
    43: "Periodic Advertising with Responses - Advertiser", 44: "Periodic Advertising with Responses - Scanner",
    45: "Unsegmented Framed Mode", 46: "Channel Sounding", 47: "Channel Sounding (Host Support)",
    48: "Channel Sounding Tone Quality Indication", 63: "LL Extended Feature Set", 64: "Monitoring Advertisers",
    65: "Frame Space Update", 66: "UTP OTA Mode", 67: "UTP HCI Mode", 68: "LL_OTA_UTP_IND Maximum Length (first bit)",
    69: "LL_OTA_UTP_IND Maximum Length (second bit)", 72: "Shorter Connection Intervals",
    73: "Shorter Connection Intervals (Host Support)", 74: "LE Flushable ACL Data",
  ]
}
