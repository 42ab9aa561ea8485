import Bluetooth
import HCI

/// The features of a controller in an event, for people.
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
    text = LinkLayerFeatures(octets[start...]).names.map { ", \($0)" }.joined()
    self.link = link
  }
}
