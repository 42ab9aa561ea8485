import FrameworkSupport

/// The adapters on which the managers of this program advertise or have advertised. With several adapters one hears the
/// advertisements of another, but no program on Apple's systems hears itself.
enum OwnAdapters {
  private static let byManager = Guarded<[ObjectIdentifier: Set<String>]>([:])

  static func add(_ adapter: String, of engine: ManagerEngine) {
    byManager.with { _ = $0[ObjectIdentifier(engine), default: []].insert(adapter) }
  }

  /// The manager is gone.
  static func remove(of engine: ManagerEngine) { byManager.with { $0[ObjectIdentifier(engine)] = nil } }

  static func contains(_ adapter: String) -> Bool { byManager.with { $0.values.contains { $0.contains(adapter) } } }
}

extension CentralEngine {
  /// Why the program does not connect to itself.
  static var itself: NSError { .failed(.connectionFailed, "this program itself advertises under that address") }
}

extension ManagerEngine {
  /// Whether the program itself advertises under this address. A manager with a chosen adapter may use others of the
  /// program like any other device. On `queue`.
  ///
  /// An adapter tells its address when it is on, which the other manager may learn later than this one.
  func isOwn(_ address: String?) -> Bool {
    guard adapter == nil, let address else { return false }
    return adapters.contains {
      ($0.address == address || $0.privateAddress == address) && OwnAdapters.contains($0.adapter)
    }
  }
}
