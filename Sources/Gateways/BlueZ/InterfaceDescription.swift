/// The members of an interface, each with its handler.
struct InterfaceDescription: Sendable {
  struct Method: Sendable {
    typealias Handler = @Sendable (Facade, BusCall, BusClient) -> Void

    let name: String
    /// The types of the arguments, in order.
    let types: String
    let results: String
    /// Answers a call, now or later; nil for the standard interfaces, which need no program.
    let handler: Handler?

    init(_ name: String, _ types: String = "", returns results: String = "", _ handler: Handler? = nil) {
      (self.name, self.types, self.results, self.handler) = (name, types, results, handler)
    }
  }

  struct Signal: Sendable {
    let name: String
    /// The types of its arguments, in order.
    let types: String

    init(_ name: String, _ types: String) { (self.name, self.types) = (name, types) }
  }

  struct Property: Sendable {
    typealias Setter = @Sendable (Facade, PropertyChange) -> Void

    let name: String
    let type: String
    /// Answers a program that sets it, now or later; nil if it is read only.
    let setter: Setter?

    var isWritable: Bool { setter != nil }

    init(_ name: String, _ type: String, _ setter: Setter? = nil) {
      (self.name, self.type, self.setter) = (name, type, setter)
    }
  }

  var methods: [Method] = []
  var signals: [Signal] = []
  var properties: [Property] = []

  func property(_ name: String) -> Property? { properties.first { $0.name == name } }

  func method(_ name: String) -> Method? { methods.first { $0.name == name } }
}

extension Interface {
  var description: InterfaceDescription {
    switch self {
    case .adapter: .adapter
    case .device: .device
    case .battery: .battery
    case .batteryProviderManager: .batteryProviderManager
    case .service: .service
    case .characteristic: .characteristic
    case .descriptor: .descriptor
    case .gattManager: .gattManager
    case .advertisingManager: .advertisingManager
    case .monitorManager: .monitorManager
    case .agentManager: .agentManager
    case .profileManager: .profileManager
    case .objectManager: .objectManager
    case .properties: .properties
    case .introspectable: .introspectable
    case .peer: .peer
    }
  }
}
