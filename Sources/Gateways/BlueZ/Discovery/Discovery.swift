import BledRPC
import Bluetooth

/// The discoveries of the programs: a program has one for each adapter, with its own filter, and its own scan in its
/// session of bled. So no program disturbs another.
final class Discovery {
  private struct Key: Hashable {
    /// The unique name of the program.
    let program: String
    /// The path of the adapter.
    let path: String
  }

  private struct Search {
    let adapter: String
    /// The number of the scan in the program's session.
    let scan: Int
    /// The adapter was off since the program began: it may begin again.
    var isInterrupted = false
  }

  private let context: Context
  private let clients: Clients
  private let adapters: Adapters
  private let reports: Reports
  private var filters: [Key: DiscoveryFilter] = [:]
  private var searches: [Key: Search] = [:]

  init(_ context: Context, _ clients: Clients, _ adapters: Adapters, _ reports: Reports) {
    self.context = context
    self.clients = clients
    self.adapters = adapters
    self.reports = reports
  }

  func listFilters(_ call: BusCall) { context.reply(call, .strings(DiscoveryFilter.names)) }

  func setFilter(_ call: BusCall, _ client: BusClient) {
    let key = Key(program: client.name, path: call.path)
    let filter: DiscoveryFilter
    do throws(BusError) {
      filter = try DiscoveryFilter(call.arguments[0])
    } catch {
      return context.fail(call, error)
    }
    // Nothing is stored for a program that may not scan.
    client.require(.scan) { [weak self, context] result in
      guard let self, case .success = result, clients.known(key.program) != nil else {
        return context.finish(call, result)
      }
      filters[key] = filter
      guard searches[key] != nil else { return context.reply(call) }
      scan(key, client) { context.finish(call, $0) }
    }
  }

  func start(_ call: BusCall, _ client: BusClient) {
    let key = Key(program: client.name, path: call.path)
    guard adapters.isOn(call.path), let adapter = adapters.adapter(at: call.path) else {
      return context.fail(call, .notReady)
    }
    if let search = searches[key], !search.isInterrupted { return context.fail(call, .alreadyInProgress) }
    let former = searches[key]
    searches[key] = Search(adapter: adapter, scan: former?.scan ?? newNumber(client))
    scan(key, client) { [weak self, context] result in
      if case .failure = result {
        self?.searches[key] = nil
        // bled may still have the scan that was to continue.
        if let former { client.session.callUnawaited(ScanStop.self, .init(scan: former.scan)) }
      }
      self?.updateDiscovering(call.path)
      context.finish(call, result)
    }
  }

  /// The first number that no scan of the program has.
  private func newNumber(_ client: BusClient) -> Int {
    let taken = Set(searches.filter { $0.key.program == client.name }.map(\.value.scan))
    return (1...).first { !taken.contains($0) } ?? 1
  }

  /// Starts the scan of a program, or gives it another filter.
  private func scan(_ key: Key, _ client: BusClient, _ completion: @escaping (Result<Void, BusError>) -> Void) {
    guard let search = searches[key] else { return }
    let filter = filters[key] ?? DiscoveryFilter()
    client.session.call(
      ScanStart.self,
      ScanStart.Params(
        adapter: search.adapter, services: filter.services.isEmpty ? nil : filter.services, rssi: filter.rssi,
        duplicates: true, scan: search.scan)
    ) { result in
      completion(result.map { _ in }.mapError { BusError($0, otherwise: .failed($0.message)) })
    }
  }

  func stop(_ call: BusCall, _ client: BusClient) {
    guard let search = searches.removeValue(forKey: Key(program: client.name, path: call.path)) else {
      return context.fail(call, .failed("No discovery started"))
    }
    client.session.call(ScanStop.self, .init(scan: search.scan)) { [weak self, context] _ in
      self?.updateDiscovering(call.path)
      context.reply(call)
    }
  }

  /// A report in a program's session.
  func received(_ report: ScanReport.Params, by client: BusClient) {
    guard let path = adapters.path(of: report.adapter) else { return }
    let key = Key(program: client.name, path: path)
    guard searches[key] != nil else { return }
    let filter = filters[key] ?? DiscoveryFilter()
    guard filter.passes(address: report.address, name: report.name, rssi: report.rssi, txPower: report.txPower) else {
      return
    }
    reports.report(report, duplicates: filter.hasDuplicates ? client.name : nil)
  }

  /// Discovering is true from the first program to the last while the adapter is on, whatever the radio does.
  private func updateDiscovering(_ path: String) {
    let isDiscovering = adapters.isOn(path) && searches.keys.contains { $0.path == path }
    let wasDiscovering = context.tree.value(path, .adapter, "Discovering") == .boolean(true)
    context.tree.set(path, .adapter, "Discovering", .boolean(isDiscovering))
    if wasDiscovering, !isDiscovering, let adapter = adapters.adapter(at: path) { reports.ended(on: adapter) }
  }

  /// An adapter was switched on or off. The scans continue by themselves; programs may also start them again.
  func powerChanged(_ path: String) {
    if !adapters.isOn(path) {
      for key in searches.keys where key.path == path { searches[key]?.isInterrupted = true }
    }
    updateDiscovering(path)
  }

  /// The program has left the bus.
  func left(_ client: BusClient) {
    filters = filters.filter { $0.key.program != client.name }
    let paths = searches.keys.filter { $0.program == client.name }.map(\.path)
    searches = searches.filter { $0.key.program != client.name }
    for path in paths { updateDiscovering(path) }
  }

  /// bled is available again: a scan that its program has not stopped continues.
  func resume(_ client: BusClient) {
    for key in searches.keys where key.program == client.name {
      scan(key, client) { [weak self] result in
        // Without bled, or while the adapter is off, it is tried again.
        guard case .failure(let error) = result, error != .notReady else { return }
        self?.searches[key] = nil
        self?.updateDiscovering(key.path)
      }
    }
  }

  /// An adapter was removed. Its scans would continue when it returns, and no program could stop them.
  func lost(_ path: String) {
    for (key, search) in searches where key.path == path {
      searches[key] = nil
      clients.known(key.program)?.session.callUnawaited(ScanStop.self, .init(scan: search.scan))
    }
    filters = filters.filter { $0.key.path != path }
  }
}
