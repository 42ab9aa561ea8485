/// The objects of another program, from its GetManagedObjects.
struct ManagedObjects {
  /// The number of objects that are read.
  static let maximum = 1024

  struct Object {
    let path: String
    /// By the name of the interface.
    let interfaces: [String: [String: BusValue]]
  }

  /// In the order of their paths, "char2" before "char10".
  let objects: [Object]

  /// Reads `a{oa{sa{sv}}}`.
  /// - Throws: `BusError` if it has another type, or more than `maximum` objects.
  init(_ values: [BusValue]) throws(BusError) {
    guard values.count == 1, case .dictionary("o", "a{sa{sv}}", let entries) = values[0] else {
      throw .failed("No object received")
    }
    guard entries.count <= Self.maximum else {
      throw .limitsExceeded("an application has at most \(Self.maximum) objects")
    }
    objects = entries.compactMap { entry in
      entry.key.path.map { Object(path: $0, interfaces: Self.interfaces(entry.value)) }
    }.sorted { ($0.path.utf8.count, $0.path) < ($1.path.utf8.count, $1.path) }
  }

  /// `a{sa{sv}}`
  static func interfaces(_ value: BusValue) -> [String: [String: BusValue]] {
    var interfaces: [String: [String: BusValue]] = [:]
    for (name, properties) in value.options ?? [] { interfaces[name] = Self.properties(properties) }
    return interfaces
  }

  /// `a{sv}`
  static func properties(_ value: BusValue) -> [String: BusValue] {
    Dictionary((value.options ?? []).map { ($0.key, $0.value) }, uniquingKeysWith: { $1 })
  }

  /// The objects with an interface, and its properties.
  func all(_ interface: Interface) -> [(path: String, properties: [String: BusValue])] {
    objects.compactMap { object in object.interfaces[interface.rawValue].map { (object.path, $0) } }
  }
}
