import BledRPC
import Bluetooth

/// An iBeacon in the data of an advertisement: the owner's UUID, the two numbers and the measured power.
struct BeaconAdvertisement {
  /// The key under which Apple's framework takes it, which has no public name.
  static let key = "kCBAdvDataAppleBeaconKey"
  /// Apple's company identifier, the type of the data, and the number of octets that follow.
  private static let beginning: [UInt8] = [0x4C, 0x00, 0x02, 0x15]
  private static let length = 21

  /// 21 octets.
  let content: Data

  /// Takes the value of the key; nil if it has another length, which Apple's framework ignores, too.
  init?(_ content: Data) {
    guard content.count == Self.length else { return nil }
    self.content = content
  }

  /// Reads manufacturer-specific data; nil for that of anything else.
  init?(_ data: HexBytes) {
    guard data.octets.starts(with: Self.beginning) else { return nil }
    self.init(Data(data.octets.dropFirst(Self.beginning.count)))
  }

  var manufacturerData: HexBytes { HexBytes(Self.beginning + Array(content)) }
}
