import FrameworkSupport

/// The addresses under which the managers of this program advertise or have advertised. With several adapters one hears
/// the advertisements of another, but no program on Apple's systems hears itself.
enum OwnAddresses {
  private static let byManager = Guarded<[ObjectIdentifier: Set<String>]>([:])

  static func add(_ address: String, of engine: ManagerEngine) {
    byManager.with { _ = $0[ObjectIdentifier(engine), default: []].insert(address) }
  }

  /// The manager is gone.
  static func remove(of engine: ManagerEngine) { byManager.with { $0[ObjectIdentifier(engine)] = nil } }

  static func contains(_ address: String) -> Bool { byManager.with { $0.values.contains { $0.contains(address) } } }
}

extension CentralEngine {
  /// Why the program does not connect to itself.
  static var itself: NSError { .failed(.connectionFailed, "this program itself advertises under that address") }
}

extension ManagerEngine {
  /// Whether the program itself advertises under this address. A manager with a chosen adapter may use others of the
  /// program like any other device.
  func isOwn(_ address: String?) -> Bool {
    guard adapter == nil, let address else { return false }
    return OwnAddresses.contains(address)
  }
}
