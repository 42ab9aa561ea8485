/// The messages of this side.
extension APIFrame {
  init(_ type: UInt32, _ write: (inout ProtobufWriter) -> Void) {
    var writer = ProtobufWriter()
    write(&writer)
    self.init(type: type, payload: writer.octets)
  }

  /// - Parameter minor: of the version 1.minor of the API.
  static func hello(minor: UInt32, server: String, name: String) -> APIFrame {
    APIFrame(2) {
      $0.number(1, 1 as UInt32)
      $0.number(2, minor)
      $0.text(3, server)
      $0.text(4, name)
    }
  }

  static let authenticated = APIFrame(type: 4)
  static let disconnect = APIFrame(type: 5)
  static let disconnected = APIFrame(type: 6)
  static let ping = APIFrame(type: 7)
  static let pong = APIFrame(type: 8)
  static let entitiesDone = APIFrame(type: 19)

  static func deviceInfo(_ device: DeviceDescription) -> APIFrame {
    APIFrame(10) {
      $0.text(2, device.name)
      $0.text(3, device.address)
      $0.text(4, DeviceDescription.apiRelease)
      $0.text(6, DeviceDescription.model)
      $0.text(8, DeviceDescription.project)
      $0.text(9, device.version)
      $0.text(12, DeviceDescription.manufacturer)
      $0.text(13, device.friendlyName)
      $0.number(15, device.features.rawValue)
      $0.text(18, device.address)
      $0.flag(19, true)
      $0.flag(27, device.connectsOut)
    }
  }

  static func deviceCapabilities(_ device: DeviceDescription) -> APIFrame {
    APIFrame(150) {
      $0.message(1) {
        $0.number(1, device.features.rawValue)
        $0.text(2, device.address)
      }
    }
  }

  /// - Parameter advertisements: as `advertisement` encodes them.
  static func advertisements(_ advertisements: [UInt8]) -> APIFrame { APIFrame(type: 93, payload: advertisements) }

  /// One advertisement within a message of several.
  static func advertisement(address: UInt64, rssi: Int32, addressType: UInt32, data: [UInt8]) -> [UInt8] {
    var writer = ProtobufWriter()
    writer.message(1) {
      $0.number(1, address)
      $0.zigzag(2, rssi)
      $0.number(3, addressType)
      $0.bytes(4, data)
    }
    return writer.octets
  }

  static func scannerState(_ state: ScannerState, isActive: Bool, configuredActive: Bool) -> APIFrame {
    APIFrame(126) {
      $0.number(1, state.rawValue)
      $0.flag(2, isActive)
      $0.flag(3, configuredActive)
    }
  }

  static func connectionsFree(limit: Int, allocated: [UInt64]) -> APIFrame {
    APIFrame(81) {
      $0.number(1, UInt32(clamping: limit - allocated.count))
      $0.number(2, UInt32(clamping: limit))
      $0.numbers(3, allocated)
    }
  }

  static func connected(_ address: UInt64, mtu: Int) -> APIFrame {
    APIFrame(69) {
      $0.number(1, address)
      $0.flag(2, true)
      $0.number(3, UInt32(clamping: mtu))
    }
  }

  static func notConnected(_ address: UInt64, error: Int32) -> APIFrame {
    APIFrame(69) {
      $0.number(1, address)
      $0.signed(4, error)
    }
  }

  static func servicesDone(_ address: UInt64) -> APIFrame { APIFrame(72) { $0.number(1, address) } }

  static func value(_ address: UInt64, _ handle: UInt16, _ value: [UInt8]) -> APIFrame {
    attribute(74, address, handle, value)
  }

  static func written(_ address: UInt64, _ handle: UInt16) -> APIFrame { attribute(83, address, handle) }

  static func notifying(_ address: UInt64, _ handle: UInt16) -> APIFrame { attribute(84, address, handle) }

  static func notified(_ address: UInt64, _ handle: UInt16, _ value: [UInt8]) -> APIFrame {
    attribute(79, address, handle, value)
  }

  static func failed(_ address: UInt64, _ handle: UInt16, error: Int32) -> APIFrame {
    APIFrame(82) {
      $0.number(1, address)
      $0.number(2, UInt32(handle))
      $0.signed(3, error)
    }
  }

  private static func attribute(
    _ type: UInt32, _ address: UInt64, _ handle: UInt16, _ value: [UInt8] = []
  ) -> APIFrame {
    APIFrame(type) {
      $0.number(1, address)
      $0.number(2, UInt32(handle))
      $0.bytes(3, value)
    }
  }

  /// - Parameter error: 0 for success.
  static func paired(_ address: UInt64, error: Int32) -> APIFrame { outcome(85, address, error) }
  static func unpaired(_ address: UInt64, error: Int32) -> APIFrame { outcome(86, address, error) }
  static func cacheCleared(_ address: UInt64, error: Int32) -> APIFrame { outcome(88, address, error) }

  private static func outcome(_ type: UInt32, _ address: UInt64, _ error: Int32) -> APIFrame {
    APIFrame(type) {
      $0.number(1, address)
      $0.flag(2, error == 0)
      $0.signed(3, error)
    }
  }

  static func parametersSet(_ address: UInt64, error: Int32) -> APIFrame {
    APIFrame(146) {
      $0.number(1, address)
      $0.signed(2, error)
    }
  }
}
