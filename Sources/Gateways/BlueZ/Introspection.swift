/// The answer to Introspect (D-Bus Specification, Introspection Data Format).
enum Introspection {
  private static let start = """
    <!DOCTYPE node PUBLIC "-//freedesktop//DTD D-BUS Object Introspection 1.0//EN"
    "http://www.freedesktop.org/standards/dbus/1.0/introspect.dtd">
    <node>

    """

  /// The document of an object, or of a place between objects.
  /// - Returns: nil without an object at the path or below it.
  static func document(of path: String, in tree: ObjectTree) -> String? {
    let own = tree.interfaces(of: path) ?? []
    let children = children(of: path, in: tree)
    guard path == "/" || !own.isEmpty || !children.isEmpty else { return nil }
    var text = start
    let interfaces = own + [.introspectable, .properties, .peer] + (path == "/" ? [.objectManager] : [])
    for interface in interfaces { append(interface, to: &text) }
    for child in children { text += "  <node name=\"\(child)\"/>\n" }
    return text + "</node>\n"
  }

  private static func children(of path: String, in tree: ObjectTree) -> [String] {
    let depth = path == "/" ? 0 : path.utf8.count(where: { $0 == UInt8(ascii: "/") })
    var names: [String] = []
    for descendant in tree.descendants(of: path) {
      let name = String(descendant.split(separator: "/")[depth])
      if names.last != name { names.append(name) }
    }
    return names.reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
  }

  private static func append(_ interface: Interface, to text: inout String) {
    let description = interface.description
    text += "  <interface name=\"\(interface.rawValue)\">\n"
    for method in description.methods {
      text += "    <method name=\"\(method.name)\">\n"
      for type in BusSignature.types(of: method.types) { text += "      <arg type=\"\(type)\" direction=\"in\"/>\n" }
      for type in BusSignature.types(of: method.results) { text += "      <arg type=\"\(type)\" direction=\"out\"/>\n" }
      text += "    </method>\n"
    }
    for signal in description.signals {
      text += "    <signal name=\"\(signal.name)\">\n"
      for type in BusSignature.types(of: signal.types) { text += "      <arg type=\"\(type)\"/>\n" }
      text += "    </signal>\n"
    }
    for property in description.properties {
      let access = property.isWritable ? "readwrite" : "read"
      text += "    <property name=\"\(property.name)\" type=\"\(property.type)\" access=\"\(access)\"/>\n"
    }
    text += "  </interface>\n"
  }
}
