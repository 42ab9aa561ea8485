import AssignedValues
import BledClient
import Bluetooth
import ValueFormats

/// The body of `read`, `subscribe` and `unsubscribe`: the handle of a value or descriptor.
struct AttributeHandle: Decodable, Sendable {
  var handle: UInt16
}

/// The body of `write`.
struct AttributeWrite: Decodable, Sendable {
  /// The handle of a value or descriptor.
  var handle: UInt16
  /// The octets.
  var value: HexBytes
  /// True to wait for the device's response.
  var response: Bool
}

/// The body of `name`: a name or a format is removed if it is empty, and kept if it is missing.
struct AttributeNames: Decodable, Sendable {
  /// The handle of a characteristic; missing: the device.
  var handle: UInt16?
  var name: String?
  var format: String?
}

/// A device that is heard: how it advertises, the octets, and the changes.
struct DeviceDetail: Encodable, Sendable {
  /// An AD structure.
  struct Structure: Encodable, Sendable {
    var name: String
    /// The content in words; nil: its octets have no known meaning.
    var text: String?
    var hex: HexBytes
  }

  var report: ScanReport.Params
  var data: [Structure]
  var scanResponse: [Structure]
  /// The newest last.
  var history: [AirTable.Change]

  init(_ device: AirTable.Device) {
    report = device.report
    data = Self.structures(device.report.data)
    scanResponse = device.report.scanResponse.map(Self.structures) ?? []
    history = device.history
  }

  private static func structures(_ data: HexBytes) -> [Structure] {
    AdvertisingData(parsing: data.octets).structures.map {
      .init(name: $0.type.name, text: $0.meaning, hex: HexBytes($0.data))
    }
  }
}

/// The attributes of a device, with their names.
struct Tree: Encodable, Sendable {
  struct Service: Encodable, Sendable {
    var handle: UInt16
    var uuid: String
    var name: String?
    var characteristics: [Characteristic]
  }

  struct Characteristic: Encodable, Sendable {
    var handle: UInt16
    var uuid: String
    var name: String?
    var properties: [String]
    /// The user's format of its values.
    var format: String?
    var descriptors: [Descriptor]
  }

  struct Descriptor: Encodable, Sendable {
    var handle: UInt16
    var uuid: String
    var name: String?
  }

  var services: [Service]

  init(_ link: Link, name: (BluetoothUUID) -> String?) {
    let naming = link.naming
    func title(_ uuid: BluetoothUUID, in service: BluetoothUUID? = nil, _ handle: UInt16? = nil) -> String? {
      naming.name(of: uuid, in: service, handle: handle) ?? name(uuid)
    }
    services = link.services.map { service in
      Service(
        handle: service.handle, uuid: "\(service.uuid)", name: title(service.uuid),
        characteristics: (service.characteristics ?? []).map { characteristic in
          Characteristic(
            handle: characteristic.handle, uuid: "\(characteristic.uuid)",
            name: title(characteristic.uuid, in: service.uuid, characteristic.handle),
            properties: characteristic.properties.map(\.text), format: link.formatText(of: characteristic.handle),
            descriptors: (characteristic.descriptors ?? []).map { descriptor in
              Descriptor(handle: descriptor.handle, uuid: "\(descriptor.uuid)", name: name(descriptor.uuid))
            })
        })
    }
  }
}
