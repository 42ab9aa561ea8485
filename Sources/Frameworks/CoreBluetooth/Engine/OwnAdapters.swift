import FrameworkSupport

/// The adapters on which this program's managers advertise or have advertised. An adapter receives another one's
/// advertisements, but no program on Apple's systems discovers itself.
enum OwnAdapters {
  private static let byManager = Guarded<[ObjectIdentifier: Set<String>]>([:])

  static func add(_ adapter: String, of engine: ManagerEngine) {
    byManager.with { _ = $0[ObjectIdentifier(engine), default: []].insert(adapter) }
  }

  /// The manager was released.
  static func remove(of engine: ManagerEngine) { byManager.with { $0[ObjectIdentifier(engine)] = nil } }

  static func contains(_ adapter: String) -> Bool { byManager.with { $0.values.contains { $0.contains(adapter) } } }
}

extension CentralEngine {
  /// The reason why the program does not connect to itself.
  static var itself: NSError { .failed(.connectionFailed, "this program itself advertises under that address") }
}

extension ManagerEngine {
  /// Returns true if the program itself advertises under this address. A manager with a chosen adapter may use the
  /// program's others like any other device. On `queue`.
  ///
  /// An adapter reports its address when it is on, which the other manager may learn later than this one.
  func isOwn(_ address: String?) -> Bool {
    guard adapter == nil, let address else { return false }
    return adapters.contains {
      ($0.address == address || $0.privateAddress == address) && OwnAdapters.contains($0.adapter)
    }
  }
}
