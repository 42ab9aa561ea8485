import BledRPC
import Bluetooth
import FoundationEssentials

/// What `bleshell serve` reads: services with their values, and how to advertise them. See docs/bleshell.md.
struct ServiceFile: Decodable, Sendable {
  /// How to advertise; if missing, the primary services are listed.
  var advertise: AdvertisingStart.Params?
  var services: [Service]

  struct Service: Decodable, Sendable {
    var uuid: BluetoothUUID
    var primary: Bool?
    var characteristics: [Characteristic]
  }

  struct Characteristic: Decodable, Sendable {
    var uuid: BluetoothUUID
    var properties: [String]
    var permissions: [String]?
    /// The value at the beginning, in hex.
    var value: HexBytes?
    /// The same as text.
    var text: String?
    /// True: the daemon answers with the value, and nobody changes it.
    var fixed: Bool?
    /// How the value changes by itself.
    var changes: Changes?
    var descriptors: [Descriptor]?

    /// The value at the beginning.
    var octets: [UInt8] { value?.octets ?? Array((text ?? "").utf8) }
  }

  struct Changes: Decodable, Sendable {
    /// Seconds between two values.
    var every: Double
    /// The values, one after the other, again and again.
    var values: [HexBytes]
  }

  struct Descriptor: Decodable, Sendable {
    var uuid: BluetoothUUID
    var value: HexBytes?
    var text: String?
  }

  /// Reads a file.
  /// - Throws: `Failure` that says where in the file what is wrong.
  init(path: String) throws {
    let data: Data
    do {
      data = try Data(contentsOf: URL(filePath: path))
    } catch {
      throw Failure("\(path) cannot be read: is it there, and may you read it?")
    }
    do {
      self = try JSONDecoder().decode(ServiceFile.self, from: data)
    } catch let error as DecodingError {
      throw Failure("\(path): \(error.explanation)")
    }
    for changes in services.flatMap(\.characteristics).compactMap(\.changes) {
      guard changes.every >= 0.01, changes.every.isFinite, !changes.values.isEmpty else {
        throw Failure("\(path): \"changes\" needs \"every\", 0.01 s or more, and \"values\", one or more")
      }
    }
  }
}

extension ServiceFile.Service {
  /// The service as the daemon is told it: values that are not fixed stay here.
  var published: ServiceToPublish {
    ServiceToPublish(
      uuid: uuid, primary: primary,
      characteristics: characteristics.map { characteristic in
        ServiceToPublish.Characteristic(
          uuid: characteristic.uuid, properties: characteristic.properties, permissions: characteristic.permissions,
          value: characteristic.fixed == true ? HexBytes(characteristic.octets) : nil,
          descriptors: characteristic.descriptors?.map {
            .init(uuid: $0.uuid, value: $0.value ?? HexBytes(Array(($0.text ?? "").utf8)))
          })
      })
  }
}
