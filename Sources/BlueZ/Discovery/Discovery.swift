import BledRPC
import Bluetooth

/// The discoveries of the programs: each has its own filter, and its own scan in its session of bled. So no program
/// disturbs another.
final class Discovery {
  private struct Search {
    let adapter: String
    let path: String
  }

  private let context: Context
  private let adapters: Adapters
  private let reports: Reports
  private var filters: [String: DiscoveryFilter] = [:]
  /// By the unique name of the program.
  private var searches: [String: Search] = [:]

  init(_ context: Context, _ adapters: Adapters, _ reports: Reports) {
    self.context = context
    self.adapters = adapters
    self.reports = reports
  }

  func handle(_ call: BusCall, by client: BusClient) {
    switch call.member {
    case "StartDiscovery": start(call, client)
    case "StopDiscovery": stop(call, client)
    case "SetDiscoveryFilter": setFilter(call, client)
    case "GetDiscoveryFilters": context.reply(call, .strings(DiscoveryFilter.names))
    default: context.fail(call, .unknownMethod(call))
    }
  }

  private func setFilter(_ call: BusCall, _ client: BusClient) {
    do throws(BusError) {
      let filter = try DiscoveryFilter(call.arguments[0])
      filters[client.name] = filter
    } catch {
      return context.fail(call, error)
    }
    guard searches[client.name] != nil else { return context.reply(call) }
    scan(client) { [context] in context.finish(call, $0) }
  }

  private func start(_ call: BusCall, _ client: BusClient) {
    guard searches[client.name] == nil else { return context.fail(call, .alreadyInProgress) }
    guard adapters.isOn(call.path), let adapter = adapters.adapter(at: call.path) else {
      return context.fail(call, .notReady)
    }
    searches[client.name] = Search(adapter: adapter, path: call.path)
    scan(client) { [weak self, context] result in
      if case .failure = result { self?.searches[client.name] = nil }
      self?.tellDiscovering(call.path)
      context.finish(call, result)
    }
  }

  /// Starts the scan of a program, or gives it another filter.
  private func scan(_ client: BusClient, _ completion: @escaping (Result<Void, BusError>) -> Void) {
    guard let search = searches[client.name] else { return }
    let filter = filters[client.name] ?? DiscoveryFilter()
    client.session.call(
      ScanStart.self,
      ScanStart.Params(
        adapter: search.adapter, services: filter.services.isEmpty ? nil : filter.services, rssi: filter.rssi,
        duplicates: true)
    ) { result in
      completion(result.map { _ in }.mapError { BusError($0, otherwise: .failed($0.message)) })
    }
  }

  private func stop(_ call: BusCall, _ client: BusClient) {
    guard let search = searches[client.name], search.path == call.path else {
      return context.fail(call, .failed("No discovery started"))
    }
    searches[client.name] = nil
    client.session.call(ScanStop.self, .init()) { [weak self, context] _ in
      self?.tellDiscovering(search.path)
      context.reply(call)
    }
  }

  /// A report in a program's session.
  func heard(_ report: ScanReport.Params, by client: BusClient) {
    guard searches[client.name] != nil else { return }
    let filter = filters[client.name] ?? DiscoveryFilter()
    guard filter.passes(address: report.address, name: report.name, rssi: report.rssi, txPower: report.txPower) else {
      return
    }
    reports.report(report, duplicates: filter.hasDuplicates ? client.name : nil)
  }

  /// Discovering is true from the first program to the last, whatever the radio does.
  private func tellDiscovering(_ path: String) {
    let isDiscovering = searches.values.contains { $0.path == path }
    let wasDiscovering = context.tree.value(path, .adapter, "Discovering") == .boolean(true)
    context.tree.set(path, .adapter, "Discovering", .boolean(isDiscovering))
    if wasDiscovering, !isDiscovering, let adapter = adapters.adapter(at: path) { reports.ended(on: adapter) }
  }

  /// The program has left the bus.
  func left(_ client: BusClient) {
    filters[client.name] = nil
    guard let search = searches.removeValue(forKey: client.name) else { return }
    tellDiscovering(search.path)
  }

  /// bled is there again: a scan that its program has not stopped goes on.
  func resume(_ client: BusClient) {
    guard searches[client.name] != nil else { return }
    scan(client) { _ in }
  }

  /// An adapter has gone.
  func lost(_ path: String) {
    searches = searches.filter { $0.value.path != path }
  }
}
