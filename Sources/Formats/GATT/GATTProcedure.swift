import Bluetooth

/// The caller's number for a procedure.
public struct ProcedureID: Hashable, Sendable {
  /// The number.
  public let value: UInt64
  /// Makes an identifier from a number.
  public init(_ value: UInt64) { self.value = value }
}

/// A GATT client's procedures (Core 5.4, Vol 3, Part G, 4.2).
public enum GATTProcedure: Sendable {
  /// Primary services are discovered directly, secondary ones only on request.
  public enum ServiceKind: Hashable, Sendable {
    /// Type 0x2800.
    case primary
    /// Type 0x2801.
    case secondary
  }

  /// 4.3.1. Ends with `.mtu`.
  case exchangeMTU
  /// 4.4.1. Ends with `.services`.
  case discoverServices(ServiceKind, in: ClosedRange<UInt16> = 1...0xFFFF)
  /// 4.4.2, with the octets in the declaration: 2 or 16. Ends with `.services`.
  case discoverPrimaryServices(value: [UInt8])
  /// 4.5.1. Ends with `.includedServices`.
  case findIncludedServices(in: ClosedRange<UInt16>)
  /// 4.6.1 and 4.6.2. Ends with `.characteristics`; the caller picks the ones with its UUID.
  case discoverCharacteristics(in: ClosedRange<UInt16>)
  /// 4.7.1. Ends with `.descriptors`.
  case discoverDescriptors(in: ClosedRange<UInt16>)
  /// 4.8.1 and 4.12.1. Ends with `.value`: at most MTU − 1 octets of it.
  case read(UInt16)
  /// 4.8.2. Ends with `.values`.
  case readByUUID(BluetoothUUID, in: ClosedRange<UInt16> = 1...0xFFFF)
  /// 4.8.2 for the Database Hash (7.3), which exists once: one request. Ends with `.value`.
  case readDatabaseHash
  /// 4.8.3 and 4.12.2. Ends with `.value`: everything from the offset on, up to 512 octets.
  case readLong(UInt16, offset: UInt16 = 0)
  /// 4.8.4, two handles or more. Ends with `.value`: the values in a row.
  case readMultiple([UInt16])
  /// 4.8.5, two handles or more. Ends with `.values`, in the order asked for; the MTU may have cut the last ones off.
  case readMultipleVariable([UInt16])
  /// 4.9.1. Sent at once, before waiting packets. Ends with `.done` when it is sent; longer than MTU − 3 is an error.
  case writeWithoutResponse(UInt16, [UInt8])
  /// 4.9.2. Sent at once, on an encrypted link as a plain write without response. `sign` gets the packet and returns
  /// the signature's 12 octets: the counter and the code. Ends with `.done` when it is sent.
  case signedWrite(UInt16, [UInt8], sign: @Sendable ([UInt8]) -> [UInt8])
  /// 4.9.3 and 4.12.3. Ends with `.done`; longer than MTU − 3 is an error.
  case write(UInt16, [UInt8])
  /// 4.9.4 and 4.12.4. Ends with `.done`.
  case writeLong(UInt16, [UInt8], offset: UInt16 = 0)
  /// 4.9.5: all or nothing, comparing the server's echo. Ends with `.done`.
  case reliableWrite([AttributeWrite])
  /// 3.3.3.3: writes the Client Characteristic Configuration with that handle; the empty set unsubscribes. Ends with
  /// `.done`.
  case subscribe(descriptor: UInt16, ClientConfiguration)

  /// 4.4.2. Ends with `.services`.
  public static func discoverPrimaryServices(uuid: BluetoothUUID) -> GATTProcedure {
    .discoverPrimaryServices(value: uuid.attOctets)
  }
}

/// A part of a value to write.
public struct AttributeWrite: Hashable, Sendable {
  /// The attribute.
  public var handle: UInt16
  /// The part's offset in the value.
  public var offset: UInt16
  /// The piece.
  public var value: [UInt8]

  /// Makes a value's part.
  public init(handle: UInt16, offset: UInt16 = 0, value: [UInt8]) {
    self.handle = handle
    self.offset = offset
    self.value = value
  }
}

/// A client's subscription to a characteristic (3.3.3.3).
public struct ClientConfiguration: OptionSet, Hashable, Sendable {
  /// The descriptor's two octets.
  public let rawValue: UInt16
  /// Makes a configuration from the descriptor's value.
  public init(rawValue: UInt16) { self.rawValue = rawValue }
  /// Notifications.
  public static let notification = ClientConfiguration(rawValue: 1)
  /// Indications.
  public static let indication = ClientConfiguration(rawValue: 2)
}

/// A procedure's result.
public enum GATTResult: Hashable, Sendable {
  /// The bearer's MTU in octets.
  case mtu(Int)
  /// Services in handle order.
  case services([DiscoveredService])
  /// Includes in handle order.
  case includedServices([DiscoveredInclude])
  /// Characteristics in handle order.
  case characteristics([DiscoveredCharacteristic])
  /// Attributes other than declarations, in handle order.
  case descriptors([DiscoveredDescriptor])
  /// A value.
  case value([UInt8])
  /// A value's beginning: the device has more than the maximum (512 octets), or does not return the rest.
  case cutValue([UInt8])
  /// Several values.
  case values([DiscoveredValue])
  /// Success without a value.
  case done
}

/// A found service.
public struct DiscoveredService: Hashable, Sendable {
  /// From its declaration to its last handle.
  public let range: ClosedRange<UInt16>
  /// The service's type.
  public let uuid: BluetoothUUID
}

/// A found include.
public struct DiscoveredInclude: Hashable, Sendable {
  /// The include declaration's handle.
  public let handle: UInt16
  /// The included service's handles.
  public let range: ClosedRange<UInt16>
  /// That service's type.
  public let uuid: BluetoothUUID

  /// Makes an include as it was found before.
  public init(handle: UInt16, range: ClosedRange<UInt16>, uuid: BluetoothUUID) {
    self.handle = handle
    self.range = range
    self.uuid = uuid
  }
}

/// A found characteristic.
public struct DiscoveredCharacteristic: Hashable, Sendable {
  /// Its declaration handle.
  public let handle: UInt16
  /// Its value handle.
  public let valueHandle: UInt16
  /// The last handle that can belong to it: before the next characteristic, or the end of the searched range.
  public let endHandle: UInt16
  /// Its properties.
  public let properties: CharacteristicProperties
  /// The characteristic's type.
  public let uuid: BluetoothUUID

  /// Makes a characteristic as it was found before.
  public init(
    handle: UInt16, valueHandle: UInt16, endHandle: UInt16, properties: CharacteristicProperties, uuid: BluetoothUUID
  ) {
    self.handle = handle
    self.valueHandle = valueHandle
    self.endHandle = endHandle
    self.properties = properties
    self.uuid = uuid
  }
}

/// A found descriptor.
public struct DiscoveredDescriptor: Hashable, Sendable {
  /// Its handle.
  public let handle: UInt16
  /// The descriptor's type.
  public let uuid: BluetoothUUID

  /// Makes a descriptor as it was found before.
  public init(handle: UInt16, uuid: BluetoothUUID) {
    self.handle = handle
    self.uuid = uuid
  }
}

/// A read value with its handle.
public struct DiscoveredValue: Hashable, Sendable {
  /// The attribute.
  public let handle: UInt16
  /// Its value, possibly truncated.
  public let value: [UInt8]
}
