import BledRPC
import Bluetooth

/// The services that a program offers, as its objects describe them.
struct Application {
  struct Service {
    let path: String
    let uuid: BluetoothUUID
    let isPrimary: Bool
    /// The paths of the included services.
    let includes: [String]
    var characteristics: [Characteristic] = []
  }

  struct Characteristic {
    let path: String
    let uuid: BluetoothUUID
    let access: CharacteristicAccess
    var descriptors: [Descriptor] = []
  }

  struct Descriptor {
    let path: String
    let uuid: BluetoothUUID
    let permissions: [String]
    /// Nil: the program is asked for it.
    var value: [UInt8]?
  }

  /// Descriptors that bled makes itself: Extended Properties and Client Characteristic Configuration.
  private static let own: Set<BluetoothUUID> = [0x2900, 0x2902]

  /// Included services come before those that include them.
  var services: [Service]

  /// - Throws: `BusError` if there is no service, or an object is not valid.
  init(_ objects: ManagedObjects) throws(BusError) {
    guard !objects.objects.isEmpty else { throw .failed("No object received") }
    var services: [Service] = []
    for (path, properties) in objects.all(.service) {
      services.append(
        Service(
          path: path, uuid: try Self.uuid(properties), isPrimary: properties["Primary"]?.boolean ?? true,
          includes: properties["Includes"]?.paths ?? []))
    }
    guard !services.isEmpty else { throw .failed("No valid service object found") }
    for (path, properties) in objects.all(.characteristic) {
      guard let index = services.firstIndex(where: { $0.path == properties["Service"]?.path }) else {
        throw .failed("No valid service object found")
      }
      services[index].characteristics.append(
        Characteristic(
          path: path, uuid: try Self.uuid(properties),
          access: try CharacteristicAccess(flags: properties["Flags"]?.strings ?? [])))
    }
    for (path, properties) in objects.all(.descriptor) {
      let uuid = try Self.uuid(properties)
      guard let characteristic = properties["Characteristic"]?.path, !Self.own.contains(uuid) else { continue }
      for service in services.indices {
        guard let index = services[service].characteristics.firstIndex(where: { $0.path == characteristic }) else {
          continue
        }
        let access = try CharacteristicAccess(flags: properties["Flags"]?.strings ?? [])
        services[service].characteristics[index].descriptors.append(
          Descriptor(
            path: path, uuid: uuid, permissions: access.readPermissions, value: properties["Value"]?.bytes))
      }
    }
    self.services = try Self.ordered(services)
  }

  private static func uuid(_ properties: [String: BusValue]) throws(BusError) -> BluetoothUUID {
    guard let uuid = properties["UUID"]?.string.flatMap({ BluetoothUUID($0) }) else {
      throw .failed("Failed to create entry in database")
    }
    return uuid
  }

  /// The services such that each comes after those that it includes.
  private static func ordered(_ services: [Service]) throws(BusError) -> [Service] {
    var ordered: [Service] = []
    var left = services
    while !left.isEmpty {
      let done = Set(ordered.map(\.path))
      let ready = left.filter { done.isSuperset(of: $0.includes) }
      guard !ready.isEmpty else { throw .failed("Failed to create entry in database") }
      ordered += ready
      left.removeAll { service in ready.contains { $0.path == service.path } }
    }
    return ordered
  }
}

extension BusValue {
  /// The paths of an array of them.
  var paths: [String]? {
    guard case .array("o", let values) = unwrapped else { return nil }
    return values.compactMap(\.path)
  }
}
