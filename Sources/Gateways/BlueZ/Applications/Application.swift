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
    /// The directions in which values are passed over sockets.
    let sockets: Set<AcquiredDirection>
    var descriptors: [Descriptor] = []
  }

  struct Descriptor {
    let path: String
    let uuid: BluetoothUUID
    let permissions: [DescriptorPermission]
    /// The value exported by the program, for a program that cannot be asked.
    let value: [UInt8]?
  }

  /// A client of services (BlueZ, org.bluez.GattProfile).
  struct Profile {
    let path: String
    let uuids: [BluetoothUUID]
  }

  /// Descriptors that bled makes itself: Extended Properties and Client Characteristic Configuration.
  private static let own: Set<BluetoothUUID> = [0x2900, 0x2902]

  /// Included services precede the services that include them.
  let services: [Service]
  /// The clients with services for which devices are connected automatically.
  let profiles: [Profile]

  /// - Throws: `BusError` without a service, or if an object is not valid.
  init(_ objects: ManagedObjects) throws(BusError) {
    guard !objects.objects.isEmpty else { throw .failed("No object received") }
    var services = try objects.all(.service).map { (path, properties) throws(BusError) in
      Service(
        path: path, uuid: try Self.uuid(properties), isPrimary: properties["Primary"]?.boolean ?? true,
        // Some programs list the service itself.
        includes: (properties["Includes"]?.paths ?? []).filter { $0 != path })
    }
    profiles = try Self.profiles(objects)
    guard !services.isEmpty || !profiles.isEmpty else { throw .failed("No valid service object found") }
    let places = Dictionary(
      services.enumerated().map { ($0.element.path, $0.offset) }, uniquingKeysWith: { first, _ in first })
    let descriptors = try Self.descriptors(objects)
    for (path, properties) in objects.all(.characteristic) {
      guard let place = properties["Service"]?.path.flatMap({ places[$0] }) else {
        throw .failed("No valid service object found")
      }
      services[place].characteristics.append(
        Characteristic(
          path: path, uuid: try Self.uuid(properties),
          access: try CharacteristicAccess(flags: properties["Flags"]?.strings ?? []),
          sockets: Set([.writes, .values].filter { properties[$0.property] != nil }),
          descriptors: descriptors[path] ?? []))
    }
    self.services = try Self.ordered(services)
  }

  /// The interface of a program's profiles.
  static let profile = "org.bluez.GattProfile1"
  /// The number of services of all profiles.
  static let maximumProfiles = 32

  private static func profiles(_ objects: ManagedObjects) throws(BusError) -> [Profile] {
    var profiles: [Profile] = []
    for object in objects.objects {
      // bluetoothctl exports a profile with each application, and its own command is among the UUIDs.
      let uuids = (object.interfaces[profile]?["UUIDs"]?.strings ?? []).compactMap { BluetoothUUID($0) }
      if !uuids.isEmpty { profiles.append(Profile(path: object.path, uuids: uuids)) }
    }
    guard profiles.reduce(0, { $0 + $1.uuids.count }) <= maximumProfiles else {
      throw .limitsExceeded("the profiles of an application have at most \(maximumProfiles) services")
    }
    return profiles
  }

  /// The descriptors by the paths of their characteristics.
  private static func descriptors(_ objects: ManagedObjects) throws(BusError) -> [String: [Descriptor]] {
    var descriptors: [String: [Descriptor]] = [:]
    for (path, properties) in objects.all(.descriptor) {
      let uuid = try uuid(properties)
      guard let characteristic = properties["Characteristic"]?.path, !own.contains(uuid) else { continue }
      let access = try CharacteristicAccess(flags: properties["Flags"]?.strings ?? [])
      descriptors[characteristic, default: []].append(
        Descriptor(
          path: path, uuid: uuid, permissions: access.permissions.compactMap { DescriptorPermission($0) },
          value: properties["Value"]?.bytes))
    }
    return descriptors
  }

  private static func uuid(_ properties: [String: BusValue]) throws(BusError) -> BluetoothUUID {
    guard let uuid = properties["UUID"]?.string.flatMap({ BluetoothUUID($0) }) else {
      throw .failed("Failed to create entry in database")
    }
    return uuid
  }

  /// The services, each after the services that it includes.
  private static func ordered(_ services: [Service]) throws(BusError) -> [Service] {
    var ordered: [Service] = []
    var done: Set<String> = []
    var left = services
    while !left.isEmpty {
      let ready = left.filter { done.isSuperset(of: $0.includes) }
      guard !ready.isEmpty else { throw .failed("Failed to create entry in database") }
      ordered += ready
      left.removeAll { done.isSuperset(of: $0.includes) }
      done.formUnion(ready.map(\.path))
    }
    return ordered
  }
}

extension BusValue {
  /// The paths in an array of them.
  var paths: [String]? {
    guard case .array("o", let values) = unwrapped else { return nil }
    return values.compactMap(\.path)
  }
}
