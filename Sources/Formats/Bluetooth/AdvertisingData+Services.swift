/// Service UUIDs and service data (CSS, Part A, 1.1, 1.10 and 1.11).
extension AdvertisingData {
  /// A service's data.
  public struct ServiceData: Hashable, Sendable {
    /// The service.
    public var uuid: BluetoothUUID
    /// The data after the UUID.
    public var data: [UInt8]

    /// Makes a service's data.
    public init(uuid: BluetoothUUID, data: [UInt8]) {
      self.uuid = uuid
      self.data = data
    }
  }

  /// The services listed by the device, in order, each once.
  public var serviceUUIDs: [BluetoothUUID] { unique { $0.serviceUUIDs } }

  /// The services solicited by the device, in order, each once.
  public var solicitedServiceUUIDs: [BluetoothUUID] { unique { $0.solicitedServiceUUIDs } }

  /// The data of services, in order.
  public var serviceData: [ServiceData] { structures.compactMap(\.serviceData) }

  private func unique(_ list: (Structure) -> [BluetoothUUID]) -> [BluetoothUUID] {
    var seen: Set<BluetoothUUID> = []
    return structures.flatMap(list).filter { seen.insert($0).inserted }
  }
}

extension AdvertisingData.Structure {
  /// The services listed in this structure; an incomplete UUID at the end is ignored.
  public var serviceUUIDs: [BluetoothUUID] {
    switch type {
    case .incompleteServices16, .completeServices16: uuids(ofWidth: 2)
    case .incompleteServices32, .completeServices32: uuids(ofWidth: 4)
    case .incompleteServices128, .completeServices128: uuids(ofWidth: 16)
    default: []
    }
  }

  /// The services solicited in this structure; an incomplete UUID at the end is ignored.
  public var solicitedServiceUUIDs: [BluetoothUUID] {
    switch type {
    case .solicitedServices16: uuids(ofWidth: 2)
    case .solicitedServices32: uuids(ofWidth: 4)
    case .solicitedServices128: uuids(ofWidth: 16)
    default: []
    }
  }

  /// The length in octets of the UUID at the beginning of service data: 2, 4 or 16; nil for a structure of another
  /// type.
  public var serviceDataUUIDWidth: Int? {
    switch type {
    case .serviceData16: 2
    case .serviceData32: 4
    case .serviceData128: 16
    default: nil
    }
  }

  /// The service data in this structure.
  public var serviceData: AdvertisingData.ServiceData? {
    guard let width = serviceDataUUIDWidth, data.count >= width,
      let uuid = BluetoothUUID(littleEndian: data.prefix(width))
    else { return nil }
    return AdvertisingData.ServiceData(uuid: uuid, data: Array(data.dropFirst(width)))
  }

  /// A structure of service data, with the UUID in its shortest form.
  public static func serviceData(_ uuid: BluetoothUUID, _ data: [UInt8]) -> Self {
    let type: AdvertisingDataType =
      switch uuid.advertisedWidth {
      case .two: .serviceData16
      case .four: .serviceData32
      case .sixteen: .serviceData128
      }
    return Self(type, uuid.advertisedOctets + data)
  }

  /// Structures listing services, one for each UUID width present.
  /// - Parameters:
  ///   - uuids: the services.
  ///   - isComplete: true if the device has no other services of that width.
  public static func services(_ uuids: [BluetoothUUID], isComplete: Bool = true) -> [Self] {
    lists(of: uuids) { width in
      switch width {
      case .two: isComplete ? .completeServices16 : .incompleteServices16
      case .four: isComplete ? .completeServices32 : .incompleteServices32
      case .sixteen: isComplete ? .completeServices128 : .incompleteServices128
      }
    }
  }

  /// Structures listing solicited services, one for each UUID width present.
  public static func solicitedServices(_ uuids: [BluetoothUUID]) -> [Self] {
    lists(of: uuids) { width in
      switch width {
      case .two: .solicitedServices16
      case .four: .solicitedServices32
      case .sixteen: .solicitedServices128
      }
    }
  }

  private static func lists(
    of uuids: [BluetoothUUID], type: (BluetoothUUID.AdvertisedWidth) -> AdvertisingDataType
  ) -> [Self] {
    BluetoothUUID.AdvertisedWidth.allCases.compactMap { width in
      let octets = uuids.filter { $0.advertisedWidth == width }.flatMap(\.advertisedOctets)
      return octets.isEmpty ? nil : Self(type(width), octets)
    }
  }

  private func uuids(ofWidth width: Int) -> [BluetoothUUID] {
    stride(from: 0, through: data.count - width, by: width).compactMap {
      BluetoothUUID(littleEndian: data[$0..<$0 + width])
    }
  }
}

extension BluetoothUUID {
  /// A UUID's octets in AD data, which, unlike ATT, has a 32-bit form.
  enum AdvertisedWidth: Int, CaseIterable { case two = 2, four = 4, sixteen = 16 }

  var advertisedWidth: AdvertisedWidth { short16 != nil ? .two : short32 != nil ? .four : .sixteen }

  fileprivate var advertisedOctets: [UInt8] {
    guard let short32, short16 == nil else { return attOctets }
    return (0..<4).map { UInt8(truncatingIfNeeded: short32 >> (8 * UInt32($0))) }
  }
}
