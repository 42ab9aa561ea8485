/// Properties, ObjectManager, Introspectable and Peer (D-Bus Specification, Standard Interfaces), answered from the
/// object tree.
struct StandardInterfaces {
  /// The outcome of a call.
  enum Outcome {
    case reply([BusValue])
    case fail(BusError)
    /// Set a property; its type and access have been checked.
    case set(InterfaceDescription.Property, BusValue)
    /// A call of another interface.
    case other
  }

  /// `GetMachineId`.
  let machine: String

  func handle(_ call: BusCall, _ tree: ObjectTree) -> Outcome {
    // A call without an interface may mean any that has the member.
    switch call.interface.map(Interface.init(rawValue:)) {
    case .some(nil): return tree.has(call.path) ? .fail(.unknownMethod(call)) : .fail(missing(call, tree))
    case .some(.objectManager?): return objectManager(call, tree)
    case .some(.introspectable?): return introspect(call, tree)
    case .some(.properties?): return properties(call, tree)
    case .some(.peer?): return peer(call)
    case nil:
      switch call.member {
      case "GetManagedObjects": return objectManager(call, tree)
      case "Introspect": return introspect(call, tree)
      case "Get", "Set", "GetAll": return properties(call, tree)
      default: return .other
      }
    case .some(.some): return .other
    }
  }

  private func missing(_ call: BusCall, _ tree: ObjectTree) -> BusError {
    call.path == "/" || !tree.descendants(of: call.path).isEmpty ? .unknownMethod(call) : .unknownObject(call.path)
  }

  private func peer(_ call: BusCall) -> Outcome {
    switch (call.member, call.signature) {
    case ("Ping", ""): .reply([])
    case ("GetMachineId", ""): .reply([.string(machine)])
    default: .fail(.unknownMethod(call))
    }
  }

  private func objectManager(_ call: BusCall, _ tree: ObjectTree) -> Outcome {
    guard call.path == "/" else { return .fail(missing(call, tree)) }
    guard call.member == "GetManagedObjects", call.arguments.isEmpty else { return .fail(.unknownMethod(call)) }
    return .reply([tree.managedObjects])
  }

  private func introspect(_ call: BusCall, _ tree: ObjectTree) -> Outcome {
    guard call.member == "Introspect", call.arguments.isEmpty else { return .fail(.unknownMethod(call)) }
    guard let document = Introspection.document(of: call.path, in: tree) else {
      return .fail(.unknownObject(call.path))
    }
    return .reply([.string(document)])
  }

  private func properties(_ call: BusCall, _ tree: ObjectTree) -> Outcome {
    guard tree.has(call.path) else { return .fail(missing(call, tree)) }
    guard let method = InterfaceDescription.properties.method(call.member), method.types == call.signature,
      let name = call.arguments[0].string
    else { return .fail(.unknownMethod(call)) }
    guard let interface = Interface(rawValue: name), let values = tree.properties(of: call.path, interface) else {
      // The standard interfaces have no properties.
      if Interface(rawValue: name) != nil, name.utf8.starts(with: "org.freedesktop".utf8), call.member == "GetAll" {
        return .reply([.options([])])
      }
      return .fail(.noInterface(name))
    }
    if call.member == "GetAll" { return .reply([values.value]) }
    guard let property = call.arguments[1].string.flatMap(interface.description.property) else {
      return .fail(.noProperty(call.arguments[1].string ?? ""))
    }
    if call.member == "Get" {
      return values[property.name].map { .reply([.variant($0)]) } ?? .fail(.noProperty(property.name))
    }
    guard property.isWritable else { return .fail(.readOnly(property.name)) }
    guard values[property.name] != nil else { return .fail(.noProperty(property.name)) }
    let value = call.arguments[2].unwrapped
    guard value.type == property.type else { return .fail(.wrongArguments) }
    return .set(property, value)
  }
}
