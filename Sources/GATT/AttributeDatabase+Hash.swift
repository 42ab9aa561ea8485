import ATT
import Bluetooth

extension AttributeDatabase {
  /// Whether there is a database hash at all.
  public var hasHash: Bool { cmac != nil }

  /// What the database hash is made of (Core 5.4, Vol 3, Part G, 7.3.1): every declaration and Extended Properties
  /// descriptor with its value, the other descriptors that GATT defines without.
  public var hashMessage: [UInt8] {
    var message: [UInt8] = []
    for attribute in entries.lazy.flatMap(\.attributes) {
      guard let type = attribute.type.short16 else { continue }
      switch type {
      case 0x2800...0x2803, 0x2900:
        message.append(word: attribute.handle)
        message.append(word: type)
        if case .stored(let value) = attribute.source { message += value }
      case 0x2901...0x2905:
        message.append(word: attribute.handle)
        message.append(word: type)
      default: continue
      }
    }
    return message
  }

  /// The value of the Database Hash characteristic: 16 octets in wire order; nil where there is no hash.
  public mutating func hash() -> [UInt8]? {
    guard let cmac else { return nil }
    if let cachedHash { return cachedHash }
    // The characteristic is a number and goes out least significant octet first; AES-CMAC gives the most significant
    // first.
    let hash = [UInt8](cmac(hashMessage).reversed())
    cachedHash = hash
    return hash
  }
}
