import BledRPC
import Bluetooth

/// The discovery of a device's services after it was connected: once for each link, in the session of a program that
/// uses it, or of the facade if the device has made the link. Calls that need the services wait meanwhile.
final class Resolution {
  typealias Completion = (Result<Void, BusError>) -> Void

  /// A discovery that is under way.
  private struct Run {
    var number = 0
    /// The programs with sessions in which it was tried.
    var tried: Set<String> = []
    var waiting: [Completion] = []
    /// The programs that have got a link meanwhile.
    var users: [any SessionHolder] = []
  }

  private static let notConnected = BusError.failed("Not connected")

  private let devices: Devices
  private let services: Services
  private var runs: [String: Run] = [:]
  private var lastNumber = 0

  /// The services of a device are known to one more program.
  var resolved: (String, any SessionHolder) -> Void = { _, _ in }
  /// Returns true if a program still has the link to a device.
  var isUser: (String, any SessionHolder) -> Bool = { _, _ in false }
  /// A device did not list its services to a program. `retry` tries the session of another one that is not among the
  /// names, `end` gives up.
  var failed: (String, any SessionHolder, Set<String>) -> Void = { _, _, _ in }

  init(_ devices: Devices, _ services: Services) {
    self.devices = devices
    self.services = services
  }

  private func isResolved(_ path: String) -> Bool { devices.flag(path, "ServicesResolved") }

  /// A program has got a link to a device.
  func begin(_ path: String, _ client: any SessionHolder) {
    guard !isResolved(path) else { return resolved(path, client) }
    guard runs[path] != nil else { return retry(path, client) }
    runs[path]?.users.append(client)
  }

  /// Tries the session of this program.
  func retry(_ path: String, _ client: any SessionHolder) {
    lastNumber += 1
    let number = lastNumber
    runs[path, default: Run()].number = number
    runs[path]?.tried.insert(client.name)
    services.discover(path, client) { [weak self] result in
      guard let self, runs[path]?.number == number else { return }
      switch result {
      case .success:
        devices.set(path, "ServicesResolved", .boolean(true))
        let run = runs.removeValue(forKey: path)
        resolved(path, client)
        for user in run?.users ?? [] where user !== client && isUser(path, user) { resolved(path, user) }
        for completion in run?.waiting ?? [] { completion(.success(())) }
      case .failure: failed(path, client, runs[path]?.tried ?? [])
      }
    }
  }

  /// Calls back once the services are known to a program with a link to the device, or cannot be.
  func wait(_ path: String, _ client: any SessionHolder, _ completion: @escaping Completion) {
    guard !isResolved(path) else { return completion(.success(())) }
    guard devices.flag(path, "Connected") else { return completion(.failure(Self.notConnected)) }
    if runs[path] == nil { retry(path, client) }
    runs[path]?.waiting.append(completion)
  }

  /// The device's attributes have changed.
  func changed(_ path: String, _ client: any SessionHolder) {
    guard isResolved(path) else { return }
    devices.set(path, "ServicesResolved", .boolean(false))
    retry(path, client)
  }

  /// The device is disconnected, or does not list its services.
  func end(_ path: String) {
    for completion in runs.removeValue(forKey: path)?.waiting ?? [] { completion(.failure(Self.notConnected)) }
  }
}
