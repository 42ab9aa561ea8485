/// The served objects, with their interfaces and the values of their properties: the only copy of these. Programs'
/// reads are answered from here, without asking bled.
///
/// A changed property is sent in a PropertiesChanged, with all others of the same interface up to the next `flush`; a
/// characteristic's `Value` is sent each time. An object is announced before its changes, and children are removed
/// before their parents.
struct ObjectTree {
  /// A signal to send.
  struct Signal: Hashable {
    let path: String
    let interface: Interface
    let member: String
    let arguments: [BusValue]
  }

  typealias Properties = [(name: String, value: BusValue)]

  private struct Object {
    /// In the order in which they were added.
    var interfaces: [(Interface, PropertyTable)]

    func index(_ interface: Interface) -> Int? { interfaces.firstIndex { $0.0 == interface } }
  }

  private struct Change {
    let path: String
    let interface: Interface
    /// The names of the changed properties, in order; a property without a value now was removed.
    var names: [String]
  }

  private var objects: [String: Object] = [:]
  /// The new interfaces: they are announced with their values at that time.
  private var additions: [(path: String, interfaces: [Interface])] = []
  private var changes: [Change] = []
  private var signals: [Signal] = []

  /// The paths of all objects, in order.
  var paths: [String] { objects.keys.sorted() }

  func has(_ path: String) -> Bool { objects[path] != nil }

  func has(_ path: String, _ interface: Interface) -> Bool { objects[path]?.index(interface) != nil }

  func interfaces(of path: String) -> [Interface]? { objects[path]?.interfaces.map(\.0) }

  func properties(of path: String, _ interface: Interface) -> PropertyTable? {
    guard let object = objects[path], let index = object.index(interface) else { return nil }
    return object.interfaces[index].1
  }

  func value(_ path: String, _ interface: Interface, _ name: String) -> BusValue? {
    properties(of: path, interface)?[name]
  }

  /// The paths of the objects below a path, in order.
  func descendants(of path: String) -> [String] {
    let prefix = path == "/" ? path : path + "/"
    return objects.keys.filter { $0.utf8.starts(with: prefix.utf8) && $0.utf8.count > prefix.utf8.count }.sorted()
  }

  // MARK: Changes

  /// Adds interfaces to an object, which need not exist.
  mutating func add(_ path: String, _ interfaces: [(Interface, Properties)]) {
    objects[path, default: Object(interfaces: [])].interfaces += interfaces.map { ($0.0, PropertyTable($0.1)) }
    additions.append((path, interfaces.map(\.0)))
  }

  /// Removes an object and all below it.
  mutating func remove(_ path: String) {
    gatherChanges()
    for path in (descendants(of: path).reversed() + [path]) {
      guard let object = objects.removeValue(forKey: path) else { continue }
      removed(object.interfaces.map(\.0), from: path)
    }
  }

  /// Removes one interface of an object that has others.
  mutating func remove(_ path: String, _ interface: Interface) {
    guard let index = objects[path]?.index(interface) else { return }
    gatherChanges()
    objects[path]?.interfaces.remove(at: index)
    removed([interface], from: path)
  }

  private mutating func removed(_ interfaces: [Interface], from path: String) {
    signals.append(
      Signal(
        path: "/", interface: .objectManager, member: "InterfacesRemoved",
        arguments: [.path(path), .strings(interfaces.map(\.rawValue))]))
  }

  /// Sets a property; nil removes it. An object that does not exist, or lacks the interface, stays so.
  /// - Parameter isRepeated: true to send an unchanged value, too.
  mutating func set(
    _ path: String, _ interface: Interface, _ name: String, _ value: BusValue?, isRepeated: Bool = false
  ) {
    guard let index = objects[path]?.index(interface) else { return }
    let previous = objects[path]?.interfaces[index].1[name]
    guard isRepeated || previous != value else { return }
    objects[path]?.interfaces[index].1[name] = value
    if additions.contains(where: { $0.path == path && $0.interfaces.contains(interface) }) { return }
    if let change = changes.firstIndex(where: { $0.path == path && $0.interface == interface }) {
      if !changes[change].names.contains(name) { changes[change].names.append(name) }
    } else {
      changes.append(Change(path: path, interface: interface, names: [name]))
    }
  }

  /// Sets a property with a signal for every value, after all earlier changes.
  mutating func signal(_ path: String, _ interface: Interface, _ name: String, _ value: BusValue) {
    gatherChanges()
    set(path, interface, name, value, isRepeated: true)
    gatherChanges()
  }

  /// Adds a signal of an interface's own, after all earlier changes.
  mutating func emit(_ path: String, _ interface: Interface, _ member: String, _ arguments: [BusValue]) {
    gatherChanges()
    signals.append(Signal(path: path, interface: interface, member: member, arguments: arguments))
  }

  /// The signals of the changes since the last call, in order.
  mutating func flush() -> [Signal] {
    gatherChanges()
    defer { signals.removeAll(keepingCapacity: true) }
    return signals
  }

  private mutating func gatherChanges() {
    for addition in additions {
      let interfaces = objects[addition.path]?.interfaces.filter { addition.interfaces.contains($0.0) } ?? []
      signals.append(
        Signal(
          path: "/", interface: .objectManager, member: "InterfacesAdded",
          arguments: [.path(addition.path), Self.value(of: interfaces)]))
    }
    additions.removeAll(keepingCapacity: true)
    guard !changes.isEmpty else { return }
    for change in changes {
      let values = properties(of: change.path, change.interface) ?? PropertyTable([])
      signals.append(
        Self.changed(
          change.path, change.interface, change.names.compactMap { name in values[name].map { (name, $0) } },
          invalidated: change.names.filter { values[$0] == nil }))
    }
    changes.removeAll(keepingCapacity: true)
  }

  /// A PropertiesChanged.
  static func changed(
    _ path: String, _ interface: Interface, _ values: Properties, invalidated: [String] = []
  ) -> Signal {
    Signal(
      path: path, interface: .properties, member: "PropertiesChanged",
      arguments: [
        .string(interface.rawValue), .options(values.map { ($0.name, $0.value) }), .strings(invalidated),
      ])
  }

  // MARK: Reading

  /// The answer to GetManagedObjects, `a{oa{sa{sv}}}`.
  var managedObjects: BusValue {
    .dictionary(
      key: "o", value: "a{sa{sv}}",
      paths.compactMap { path in
        objects[path].map { BusValue.Entry(.path(path), Self.value(of: $0.interfaces)) }
      })
  }

  /// `a{sa{sv}}`
  private static func value(of interfaces: [(Interface, PropertyTable)]) -> BusValue {
    .dictionary(
      key: "s", value: "a{sv}", interfaces.map { BusValue.Entry(.string($0.0.rawValue), $0.1.value) })
  }
}
