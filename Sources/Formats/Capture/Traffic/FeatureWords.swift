import HCI

/// The features of a controller in an event (Core 6.2, Vol 6, Part B, 4.6), for people.
struct FeatureWords {
  /// Follows the event's name.
  let text: String
  /// The link's handle; nil for the own controller.
  let link: ConnectionHandle?

  private static let readLocal: UInt16 = 0x2003
  private static let readAllLocal: UInt16 = 0x2087

  /// - Parameter octets: the parameters behind the subevent code.
  /// - Returns: nil for another event, and for one that ends early or has failed.
  init?(_ subevent: UInt8, _ octets: [UInt8]) {
    switch subevent {
    // The status, the handle, the features.
    case 0x04: self.init(octets, at: 3, link: octets[...].little16(at: 1))
    // The status, the handle, the last page with features and the last page that follows, the features.
    case 0x2B: self.init(octets, at: 5, link: octets[...].little16(at: 1))
    default: return nil
    }
  }

  /// - Parameter parameters: The status first.
  init?(_ opcode: Opcode, _ parameters: [UInt8]) {
    switch opcode.rawValue {
    case Self.readLocal: self.init(parameters, at: 1, link: nil)
    // The number of pages.
    case Self.readAllLocal: self.init(parameters, at: 2, link: nil)
    default: return nil
    }
  }

  private init?(_ octets: [UInt8], at start: Int, link: ConnectionHandle?) {
    guard octets.count > start, octets[0] == 0 else { return nil }
    var words = ""
    for (place, octet) in octets[start...].enumerated() {
      for bit in 0..<8 where octet >> bit & 1 == 1 {
        let number = place * 8 + bit
        words += ", " + (Self.names[number] ?? "unknown feature bit \(number)")
      }
    }
    text = words
    self.link = link
  }

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
