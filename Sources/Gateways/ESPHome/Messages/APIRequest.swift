/// A message of a client. The numbers of messages and fields are those of ESPHome's native API.
enum APIRequest: Hashable {
  /// `minor` is of the version 1.minor that the client speaks; `isTarget` is true if the proxy may connect to the
  /// client by itself.
  case hello(client: [UInt8], minor: UInt32, isTarget: Bool)
  /// From clients before 2026.1, which had passwords.
  case authenticate
  case disconnect
  case disconnected
  case ping
  case pong
  case deviceInfo
  case deviceCapabilities
  case listEntities
  /// True if the client reads AD structures itself.
  case subscribeAdvertisements(raw: Bool)
  case unsubscribeAdvertisements
  case setScannerMode(active: Bool)
  case subscribeConnectionsFree
  case connect(address: UInt64, addressType: UInt32?)
  case disconnectDevice(address: UInt64)
  case pair(address: UInt64)
  case unpair(address: UInt64)
  case clearCache(address: UInt64)
  case services(address: UInt64)
  case attribute(address: UInt64, handle: UInt16, Access)
  case setParameters(address: UInt64, LinkParameters)
  /// A message that does not concern a Bluetooth proxy.
  case other

  enum Access: Hashable {
    case read
    case write([UInt8], response: Bool)
    case writeDescriptor([UInt8])
    case notify(Bool)
  }

  /// In units of 1.25 ms, 1.25 ms, connection events and 10 ms.
  struct LinkParameters: Hashable {
    var minimumInterval: UInt32
    var maximumInterval: UInt32
    var latency: UInt32
    var timeout: UInt32
  }

  /// - Returns: nil if the content is not valid.
  init?(_ frame: APIFrame) {
    guard let fields = ProtobufFields(frame.payload) else { return nil }
    let address = fields.number(1)
    switch frame.type {
    case 1:
      let minor = fields.number32(2) > 1 ? .max : fields.number32(3)
      self = .hello(client: fields.bytes(1), minor: minor, isTarget: fields.flag(4))
    case 3: self = .authenticate
    case 5: self = .disconnect
    case 6: self = .disconnected
    case 7: self = .ping
    case 8: self = .pong
    case 9: self = .deviceInfo
    case 11: self = .listEntities
    case 66: self = .subscribeAdvertisements(raw: fields.number(1) & 1 == 1)
    case 68:
      switch fields.number(2) {
      // The first one is of old clients.
      case 0, 4, 5: self = .connect(address: address, addressType: fields.flag(3) ? fields.number32(4) : nil)
      case 1: self = .disconnectDevice(address: address)
      case 2: self = .pair(address: address)
      case 3: self = .unpair(address: address)
      case 6: self = .clearCache(address: address)
      default: self = .other
      }
    case 70: self = .services(address: address)
    case 73, 75, 76, 77, 78:
      guard let handle = UInt16(exactly: fields.number(2)) else { return nil }
      let access: Access =
        switch frame.type {
        case 75: .write(fields.bytes(4), response: fields.flag(3))
        case 77: .writeDescriptor(fields.bytes(3))
        case 78: .notify(fields.flag(3))
        default: .read
        }
      self = .attribute(address: address, handle: handle, access)
    case 80: self = .subscribeConnectionsFree
    case 87: self = .unsubscribeAdvertisements
    case 127: self = .setScannerMode(active: fields.number(1) == 1)
    case 145:
      self = .setParameters(
        address: address,
        LinkParameters(
          minimumInterval: fields.number32(2), maximumInterval: fields.number32(3), latency: fields.number32(4),
          timeout: fields.number32(5)))
    case 149: self = .deviceCapabilities
    default: self = .other
    }
  }
}
