import Bluetooth

/// The caller's number for a procedure.
public struct ProcedureID: Hashable, Sendable {
  /// The number.
  public let value: UInt64
  /// Makes an identifier from a number.
  public init(_ value: UInt64) { self.value = value }
}

/// The procedures of a GATT client (Core 5.4, Vol 3, Part G, 4.2).
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
  /// 4.4.2, with the octets that the declaration holds: 2 or 16. Ends with `.services`.
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
  /// 4.8.2 for the Database Hash (7.3), of which a server has one: one request. Ends with `.value`.
  case readDatabaseHash
  /// 4.8.3 and 4.12.2. Ends with `.value`: all of it, up to 512 octets, from the offset on.
  case readLong(UInt16, offset: UInt16 = 0)
  /// 4.8.4, two handles or more. Ends with `.value`: the values in a row.
  case readMultiple([UInt16])
  /// 4.8.5, two handles or more. Ends with `.values`, in the order asked for; the MTU may have cut the last ones off.
  case readMultipleVariable([UInt16])
  /// 4.9.1. Sent at once, before waiting packets. Ends with `.done` when it is sent; longer than MTU − 3 is an error.
  case writeWithoutResponse(UInt16, [UInt8])
  /// 4.9.2. Sent at once, on an encrypted link as a plain write without response. `sign` gets the packet and
  /// returns the 12 octets of the signature: the counter and the code. Ends with `.done` when it is sent.
  case signedWrite(UInt16, [UInt8], sign: @Sendable ([UInt8]) -> [UInt8])
  /// 4.9.3 and 4.12.3. Ends with `.done`; longer than MTU − 3 is an error.
  case write(UInt16, [UInt8])
  /// 4.9.4 and 4.12.4. Ends with `.done`.
  case writeLong(UInt16, [UInt8], offset: UInt16 = 0)
  /// 4.9.5: all or nothing, and the server's echo is compared. Ends with `.done`.
  case reliableWrite([AttributeWrite])
  /// 3.3.3.3: writes the Client Characteristic Configuration of that handle; the empty set unsubscribes. Ends with
  /// `.done`.
  case subscribe(descriptor: UInt16, ClientConfiguration)

  /// 4.4.2. Ends with `.services`.
  public static func discoverPrimaryServices(uuid: BluetoothUUID) -> GATTProcedure {
    .discoverPrimaryServices(value: uuid.attOctets)
  }
}

/// A part of a value to be written.
public struct AttributeWrite: Hashable, Sendable {
  /// The attribute.
  public var handle: UInt16
  /// The offset of the part in the value.
  public var offset: UInt16
  /// The piece.
  public var value: [UInt8]

  /// Makes a part of a value.
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
  /// Makes a configuration of the descriptor's value.
  public init(rawValue: UInt16) { self.rawValue = rawValue }
  /// Notifications.
  public static let notification = ClientConfiguration(rawValue: 1)
  /// Indications.
  public static let indication = ClientConfiguration(rawValue: 2)
}

/// The result of a procedure.
public enum GATTResult: Hashable, Sendable {
  /// The MTU of the bearer in octets.
  case mtu(Int)
  /// Services in the order of their handles.
  case services([DiscoveredService])
  /// Includes in the order of their handles.
  case includedServices([DiscoveredInclude])
  /// Characteristics in the order of their handles.
  case characteristics([DiscoveredCharacteristic])
  /// Attributes that are not declarations, in the order of their handles.
  case descriptors([DiscoveredDescriptor])
  /// A value.
  case value([UInt8])
  /// The beginning of a value: the device has more than an attribute may (512 octets), or does not give the rest.
  case cutValue([UInt8])
  /// Several values.
  case values([DiscoveredValue])
  /// Success without a value.
  case done
}

/// A service that was found.
public struct DiscoveredService: Hashable, Sendable {
  /// From its declaration to its last handle.
  public let range: ClosedRange<UInt16>
  /// The type of the service.
  public let uuid: BluetoothUUID
}

/// An include that was found.
public struct DiscoveredInclude: Hashable, Sendable {
  /// The handle of the include declaration.
  public let handle: UInt16
  /// The handles of the service that is included.
  public let range: ClosedRange<UInt16>
  /// The type of that service.
  public let uuid: BluetoothUUID

  /// Makes an include as it was found before.
  public init(handle: UInt16, range: ClosedRange<UInt16>, uuid: BluetoothUUID) {
    self.handle = handle
    self.range = range
    self.uuid = uuid
  }
}

/// A characteristic that was found.
public struct DiscoveredCharacteristic: Hashable, Sendable {
  /// The handle of its declaration.
  public let handle: UInt16
  /// The handle of its value.
  public let valueHandle: UInt16
  /// The last handle that can belong to it: before the next characteristic, or the end of the searched range.
  public let endHandle: UInt16
  /// Its properties.
  public let properties: CharacteristicProperties
  /// The type of the characteristic.
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

/// A descriptor that was found.
public struct DiscoveredDescriptor: Hashable, Sendable {
  /// Its handle.
  public let handle: UInt16
  /// The type of the descriptor.
  public let uuid: BluetoothUUID

  /// Makes a descriptor as it was found before.
  public init(handle: UInt16, uuid: BluetoothUUID) {
    self.handle = handle
    self.uuid = uuid
  }
}

/// A value that was read with its handle.
public struct DiscoveredValue: Hashable, Sendable {
  /// The attribute.
  public let handle: UInt16
  /// Its value, possibly truncated.
  public let value: [UInt8]
}
