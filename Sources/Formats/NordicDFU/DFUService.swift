import Bluetooth

/// The attributes of Nordic's Secure DFU (nRF5 SDK 17.1, DFU Transport: BLE, and Buttonless Secure DFU Service).
public enum DFUService {
  /// The service, of applications and of boot loaders.
  public static let uuid = BluetoothUUID(0xFE59)
  /// Requests to a boot loader, and its answers as notifications.
  public static let controlPoint = characteristic(1)
  /// Octets of an object, written without a response.
  public static let packet = characteristic(2)
  /// Entry into the boot loader, which has another address then, and no bonds.
  public static let buttonless = characteristic(3)
  /// Entry into the boot loader, which keeps the address and the bonds. The application needs a bond.
  public static let buttonlessWithBonds = characteristic(4)

  /// The longest name that a boot loader can be given, in octets.
  public static let longestName = 20

  /// 8EC9000N-F315-4F60-9FB8-838830DAEA50
  private static func characteristic(_ number: UInt64) -> BluetoothUUID {
    BluetoothUUID(high: 0x8EC9_0000_F315_4F60 | number << 32, low: 0x9FB8_8388_30DA_EA50)
  }

  /// The address of a boot loader without bonds: that of the application and 1.
  public static func bootLoaderAddress(of application: DeviceAddress) -> DeviceAddress {
    let low = UInt64(UInt8(truncatingIfNeeded: application.value) &+ 1)
    return DeviceAddress(value: application.value & ~0xFF | low, kind: application.kind)
  }
}

/// A request to the application to start the boot loader (Buttonless Secure DFU Service).
public enum ButtonlessRequest: Hashable, Sendable {
  /// The application disconnects, and the boot loader starts.
  case enter
  /// The name that the boot loader advertises, 1 to 20 octets; only without bonds.
  case setName(String)

  private static let responseCode: UInt8 = 0x20

  private var code: UInt8 {
    switch self {
    case .enter: 1
    case .setName: 2
    }
  }

  /// The octets to write.
  public var encoded: [UInt8] {
    switch self {
    case .enter: return [code]
    case .setName(let name):
      let octets = Array(name.utf8.prefix(DFUService.longestName))
      return [code, UInt8(octets.count)] + octets
    }
  }

  /// Reads a written request; nil for others.
  public init?(_ octets: [UInt8]) {
    switch octets.first {
    case 1 where octets.count == 1: self = .enter
    case 2:
      guard octets.count > 2, octets.count == Int(octets[1]) + 2, octets.count <= DFUService.longestName + 2,
        let name = String(validating: octets[2...], as: UTF8.self)
      else { return nil }
      self = .setName(name)
    default: return nil
    }
  }

  /// The answer to it.
  public func response(_ result: ButtonlessResult) -> [UInt8] { [Self.responseCode, code, result.rawValue] }

  /// The result in an indication; nil if this is no answer to this request.
  public func result(_ octets: [UInt8]) -> ButtonlessResult? {
    guard octets.count >= 3, octets[0] == Self.responseCode, octets[1] == code else { return nil }
    return ButtonlessResult(rawValue: octets[2])
  }
}

/// The answer of an application to a request for its boot loader.
public struct ButtonlessResult: RawRepresentable, Hashable, Sendable, Error, CustomStringConvertible {
  /// The code.
  public let rawValue: UInt8

  /// Makes a result.
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// The request is done.
  public static let success = ButtonlessResult(rawValue: 1)
  /// The application does not know the request.
  public static let notSupported = ButtonlessResult(rawValue: 2)
  /// The request failed.
  public static let failed = ButtonlessResult(rawValue: 4)
  /// The name does not fit.
  public static let invalidName = ButtonlessResult(rawValue: 5)
  /// The application does something else.
  public static let busy = ButtonlessResult(rawValue: 6)
  /// There is no bond.
  public static let notBonded = ButtonlessResult(rawValue: 7)

  /// "there is no bond: pair first (7)"
  public var description: String {
    let words: [UInt8: String] = [
      1: "success", 2: "the application does not know the request", 4: "the application failed to do it",
      5: "the name does not fit", 6: "the application is busy", 7: "there is no bond: pair first",
    ]
    return words[rawValue].map { "\($0) (\(rawValue))" } ?? "an unknown reason (\(rawValue))"
  }
}
