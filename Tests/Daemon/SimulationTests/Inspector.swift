import Adapter
import BledRPC
import Bluetooth

@testable import BledCore
@testable import SimulatedAdapter

/// Memory of an inspection for the next one.
struct Inspector {
  /// Links that no client seemed to want.
  var unwantedLinks: Set<LinkID> = []
}

extension Simulation {
  /// Maximum wait of a procedure on a well behaved device, for its turn and its answer, regardless of the number of
  /// sharers.
  private static let timeout = 120.0

  /// The checks of a client alone, after each of its steps.
  func stepped(_ client: RandomClient) {
    count("steps")
    guard let connection = client.connection else { return }
    let session = connection.session
    if connection.openReplies.count > SessionConnection.maximumOpenReplies {
      trouble("client \(client.number) has \(connection.openReplies.count) open replies")
    }
    if session.outbox.waiting > Outbox.Limits().everything {
      trouble("\(session.outbox.waiting) octets wait for client \(client.number)")
    }
    guard client.manner == .canary else { return }
    if session.outbox.refusedValues + session.outbox.droppedReports > 0 {
      trouble("canary \(client.number) lost values or reports")
    }
  }

  /// Everything against everything.
  func inspect() {
    inspectSessions()
    inspectScans()
    inspectAdvertising()
    inspectConnecting()
    inspectLinks()
    inspectServices()
    for client in clients { inspectWaiting(of: client) }
    if daemon.directory.all.count > daemon.directory.limits.peripherals { trouble("the directory is over its bound") }
  }

  // MARK: Sessions

  private func inspectSessions() {
    let open = clients.compactMap(\.session).filter(\.isOpen)
    if Set(open) != Set(daemon.sessions) {
      trouble("the daemon has \(daemon.sessions.count) sessions, clients have \(open.count)")
    }
    let before = scheduler.now.advanced(by: .seconds(-240))
    if let session = undead(since: before).first {
      trouble("session \(session.id) (\(session.name)) is still held by somebody four minutes after its end")
    }
    for client in clients where client.isAwake {
      guard let connection = client.connection, connection.session.outbox.isEmpty, client.isHeard else { continue }
      if connection.openReplies.count != client.ledger.open.count {
        trouble(
          "client \(client.number) waits for \(client.ledger.open.count) answers, the daemon owes \(connection.openReplies.count)"
        )
      }
    }
  }

  private func inspectWaiting(of client: RandomClient) {
    guard client.isAwake, client.isHeard else { return }
    let late = client.ledger.open.values.filter { request in
      let waited = request.time.duration(to: scheduler.now).inSeconds
      switch request.concern {
      case .connect(_, let timeout): return timeout.map { waited > $0 + 60 } ?? false
      case .procedure(let id), .subscribe(let id, _), .unsubscribe(let id, _), .device(let id):
        guard client.devices[id]?.isPolite == true else { return false }
        return waited > Self.timeout && client.manner != .flooder
      default: return waited > 60
      }
    }
    if let request = late.min(by: { $0.number < $1.number }) {
      trouble("\(client.manner) \(client.number) waits for \(request.method) since \(request.time): \(request.concern)")
    }
    guard client.manner == .canary else { return }
    let limit = Population.period.inSeconds * 2 + 60
    for device in client.devices.values {
      for subscription in device.subscriptions.values where subscription.isConfirmed {
        let silence = (subscription.lastValue ?? subscription.since).duration(to: scheduler.now).inSeconds
        if silence > limit { trouble("canary \(client.number) has heard nothing for \(Int(silence)) s") }
      }
    }
  }

  // MARK: Wanted and actual

  /// Each adapter scans if, and only if, a client requests it.
  private func inspectScans() {
    let sure = clients.filter { $0.scans && !$0.isScanUncertain }
    let uncertain = clients.contains(where: \.isScanUncertain)
    for adapter in adapters {
      if adapter.scan.wanted != nil, !clients.contains(where: \.scans), !uncertain {
        trouble("\(adapter.information.id) is to scan and nobody wants it")
      }
      if adapter.state == .on, adapter.scan.isRunning != (adapter.scan.wanted != nil) {
        trouble("\(adapter.information.id) does not do what is wanted")
      }
    }
    if !sure.isEmpty, !uncertain, adapters.allSatisfy({ $0.scan.wanted == nil }) {
      trouble("client \(sure[0].number) scans and no adapter does")
    }
  }

  private func inspectAdvertising() {
    let wanted = Set(adapters.flatMap { $0.advertisements.wanted.map { Int($0.value) } })
    let settled = clients.filter { !$0.isAdvertisingUncertain }
    let known = Set(clients.flatMap(\.advertisements))
    let missing = Set(settled.flatMap(\.advertisements)).subtracting(wanted)
    if let number = missing.min() { trouble("advertisement \(number) is not wanted of any adapter any more") }
    if settled.count == clients.count, let number = wanted.subtracting(known).min() {
      trouble("advertisement \(number) is wanted by nobody and still there")
    }
  }

  private func inspectConnecting() {
    let waiting = Set(
      clients.flatMap { client in
        client.ledger.open.values.compactMap { request -> String? in
          if case .connect(let address, _) = request.concern { address } else { nil }
        }
      })
    let uncertain = clients.contains { !$0.isSettled }
    for adapter in adapters {
      for address in adapter.initiator.addresses where !waiting.contains("\(address)") && !uncertain {
        trouble("\(adapter.information.id) is to connect to \(address) and nobody waits for it")
      }
    }
  }

  private func inspectLinks() {
    var unwanted: Set<LinkID> = []
    let used = Set(clients.flatMap { $0.devices.keys })
    let sessions = Set(daemon.sessions)
    for device in daemon.links.links {
      if !device.isOpen { trouble("a link that has ended is still in the list") }
      if !sessions.isSuperset(of: device.central.subscribers) {
        trouble("a session that ended is subscribed to a value of \(device.peripheral.address)")
      }
      if device.link.role == .central, !used.contains(device.peripheral.id) { unwanted.insert(device.link.id) }
    }
    if let link = unwanted.intersection(inspector.unwantedLinks).first, !clients.contains(where: { !$0.isSettled }) {
      trouble("link \(link.value) is up for five minutes and nobody uses it")
    }
    inspector.unwantedLinks = unwanted
    for (adapter, slot) in zip(adapters, daemon.adapters.slots) {
      if adapter.links.count > Population.linksPerAdapter { trouble("\(slot.id) has \(adapter.links.count) links") }
      if slot.linkCount != daemon.links.links.count(where: { $0.slot == slot }) {
        trouble("\(slot.id) counts \(slot.linkCount) links")
      }
    }
  }

  private func inspectServices() {
    let services = daemon.links.database.attributes.services.filter { $0.owner.value != 0 }
    let owners = Dictionary(uniqueKeysWithValues: daemon.sessions.map { (UInt64($0.id), $0) })
    if let orphan = services.first(where: { owners[$0.owner.value] == nil }) {
      trouble("the service at handle \(orphan.range.lowerBound) belongs to a session that ended")
    }
    for client in clients where client.isSettled {
      guard let session = client.session else { continue }
      let own = services.filter { $0.owner.value == UInt64(session.id) }.map(\.range.lowerBound)
      if Set(own) != Set(client.services.keys) { trouble("client \(client.number) has other services than it knows") }
    }
  }

  // MARK: The end

  func inspectWhatRemains() {
    if !daemon.sessions.isEmpty { trouble("\(daemon.sessions.count) sessions remain") }
    if let session = undead(since: scheduler.now).first { trouble("session \(session.id) is still in memory") }
    for adapter in adapters {
      let id = adapter.information.id
      if adapter.scan.wanted != nil { trouble("\(id) is still to scan") }
      if !adapter.advertisements.wanted.isEmpty { trouble("\(id) is still to advertise") }
      if !adapter.initiator.addresses.isEmpty { trouble("\(id) is still to connect") }
      if !adapter.links.isEmpty { trouble("\(id) still has \(adapter.links.count) links") }
    }
    if !daemon.links.links.isEmpty { trouble("\(daemon.links.links.count) links remain") }
    let services = daemon.links.database.attributes.services.filter { $0.owner.value != 0 }
    if !services.isEmpty { trouble("\(services.count) services remain") }
    if let held = daemon.directory.all.first(where: { $0.references != 0 }) {
      trouble("\(held.address) is still held \(held.references) times")
    }
  }
}

extension RandomClient {
  /// True if the daemon may have done more than this client has read.
  var isSettled: Bool { session == nil || (session?.outbox.isEmpty == true && ledger.open.isEmpty) }

  var isScanUncertain: Bool { isUncertain { if case .scan = $0 { true } else { false } } }

  var isAdvertisingUncertain: Bool {
    isUncertain {
      switch $0 {
      case .advertise, .stopAdvertising: true
      default: false
      }
    }
  }

  private func isUncertain(_ condition: (Ledger.Concern) -> Bool) -> Bool {
    guard let session else { return false }
    return !session.isOpen || !session.outbox.isEmpty || ledger.isUncertain(condition)
  }
}
