import BledRPC
import Bluetooth
import FoundationEssentials

@testable import BledCore
@testable import SimulatedAdapter

/// Lines from the daemon to a client, and the rules that they must obey.
extension RandomClient {
  func take(_ line: Data) {
    simulation.count("messages")
    // The most frequent lines; one in sixteen is checked as closely as the rest.
    if isReport(line) {
      heardReport()
      guard simulation.counters["reports", default: 0] % 16 == 0 else { return }
    }
    do {
      let message = try RPCMessage(line: line.dropLast())
      simulation.note(number, message.kind)
      switch message.kind {
      case .success(let id): try succeeded(id, message)
      case .failure(nil, _): break  // A line of ours was no message.
      case .failure(let id, let error): failed(id, error)
      case .notification(let name): try heard(name, message)
      case .request(let id, let method): try asked(id, method, message)
      }
    } catch {
      simulation.trouble("client \(number) got a line that makes no sense: \(error)")
    }
  }

  private func isReport(_ line: Data) -> Bool {
    // Only the name of this method has an "n" before a dot and an "r" behind it, and the search is quick in a debug
    // build.
    let (n, dot, r) = (UInt8(ascii: "n"), UInt8(ascii: "."), UInt8(ascii: "r"))
    return line.withUnsafeBytes { octets in
      var index = 1
      while index + 1 < octets.count {
        if octets[index] == dot, octets[index - 1] == n, octets[index + 1] == r { return true }
        index += 1
      }
      return false
    }
  }

  private func heardReport() {
    let isMine = scans || ledger.isUncertain { if case .scan = $0 { true } else { false } }
    if !isMine { simulation.trouble("client \(number) got a report without a scan") }
    simulation.count("reports")
  }

  // MARK: Answers

  private func succeeded(_ id: RequestID, _ message: RPCMessage) throws {
    var fault: String?
    let request = ledger.answer(id, isSuccess: true, fault: &fault)
    if let fault { simulation.trouble("client \(number): \(fault)") }
    guard let request else { return }
    simulation.answered(request, by: self)
    switch request.concern {
    case .connect:
      let result = try message.result(PeripheralConnect.Result.self)
      guard devices[result.peripheral] == nil else { return }
      devices[result.peripheral] = Device(number: Population.number(of: result.address) ?? 0, since: now)
      simulation.count("connections")
      if Population.floods(Population.number(of: result.address) ?? 0) { openSluice(result.peripheral) }
    case .procedure(let peripheral):
      guard request.method == GATTDiscover.name else { return }
      let services = try message.result(GATTServices.self).services
      devices[peripheral]?.characteristics = services.flatMap { $0.characteristics ?? [] }.filter { $0.uuid != 0x2A05 }
      if Population.floods(devices[peripheral]?.number ?? 0) { openSluice(peripheral) }
    case .subscribe(let peripheral, let handle): devices[peripheral]?.subscriptions[handle]?.isConfirmed = true
    case .unsubscribe(let peripheral, let handle):
      if devices[peripheral]?.subscriptions[handle]?.isLeaving == true {
        devices[peripheral]?.subscriptions[handle] = nil
      }
    case .scan(let isOn): scans = isOn
    case .advertise:
      advertisements.insert(try message.result(AdvertisingStart.Result.self).advertising)
      simulation.count("advertisements")
    case .stopAdvertising(let number): advertisements.remove(number)
    case .addService:
      let service = try message.result(ServiceAdd.Result.self).service
      services[service.handle] = service
    case .removeService(let handle): services[handle] = nil
    case .disconnect, .device, .other: break
    }
  }

  private func failed(_ id: RequestID?, _ error: RPCError) {
    var fault: String?
    let request = ledger.answer(id, isSuccess: false, fault: &fault)
    if let fault { simulation.trouble("client \(number): \(fault)") }
    simulation.count("refused: \(error.data?.name ?? "\(error.code)")")
    guard let request else { return }
    if error.data == nil {
      simulation.trouble("client \(number): \(request.method) was refused as badly made: \(error.message)")
    }
    simulation.answered(request, by: self)
    guard case .subscribe(let peripheral, let handle) = request.concern else { return }
    let others = ledger.isUncertain { $0 == request.concern }
    if !others, devices[peripheral]?.subscriptions[handle]?.isConfirmed == false {
      devices[peripheral]?.subscriptions[handle] = nil
    }
  }

  // MARK: Events

  private func heard(_ name: String, _ message: RPCMessage) throws {
    switch name {
    case ScanReport.name: _ = try message.params(ScanReport.Params.self)
    case ScanLost.name:
      _ = try message.params(ScanLost.Params.self)
      simulation.count("devices lost")
    case GATTValue.name:
      let value = try message.params(GATTValue.Params.self)
      guard devices[value.peripheral]?.subscriptions[value.handle]?.isConfirmed == true else {
        return simulation.trouble("client \(number) got a value of handle \(value.handle) without a subscription")
      }
      devices[value.peripheral]?.subscriptions[value.handle]?.lastValue = now
      simulation.count(Population.floods(devices[value.peripheral]?.number ?? 0) ? "values of a flood" : "values")
    case GATTSubscriptionLost.name:
      let lost = try message.params(GATTSubscriptionLost.Params.self)
      devices[lost.peripheral]?.subscriptions[lost.handle] = nil
      simulation.count("subscriptions lost")
      if manner == .canary { simulation.trouble("canary \(number) lost its subscription: \(lost.reason.message)") }
    case GATTServicesChanged.name:
      let changed = try message.params(GATTServicesChanged.Params.self)
      devices[changed.peripheral]?.characteristics = []
      simulation.count("services changed")
    case PeripheralDisconnected.name:
      let gone = try message.params(PeripheralDisconnected.Params.self)
      if devices.removeValue(forKey: gone.peripheral) == nil {
        simulation.trouble("client \(number) lost a device that it did not have")
      }
      if let open = ledger.waiting({ $0.peripheral == gone.peripheral }).first {
        simulation.trouble("client \(number): \(open.method) \(open.number) still waits on a device that is gone")
      }
      simulation.count("disconnections")
    case AdvertisingChanged.name:
      let changed = try message.params(AdvertisingChanged.Params.self)
      if !advertisements.contains(changed.advertising) {
        simulation.trouble("client \(number) was told of advertisement \(changed.advertising), which it does not have")
      }
      if changed.reason != nil { advertisements.remove(changed.advertising) }
    case ServerSubscribed.name: subscribers.insert(try message.params(Subscriber.self))
    case ServerUnsubscribed.name:
      let gone = try message.params(Subscriber.self)
      subscribers = subscribers.filter { $0.central != gone.central || $0.handle != gone.handle }
    case AdapterChanged.name, ServerReady.name: break
    default: simulation.count("events of other kinds")
    }
  }

  // MARK: Calls of the daemon

  private func asked(_ id: RequestID, _ method: String, _ message: RPCMessage) throws {
    simulation.count("visitors' calls")
    guard manner != .rude, let connection else { return }
    let answer: Data
    if generator.chance(0.1) {
      answer = try RPCEncoding.failure(
        id: id, RPCError(BluetoothError(domain: .att, code: 0x80, name: "application", message: "no")))
    } else if method == ServerRead.name {
      let offset = try message.params(ServerRead.Params.self).offset
      answer = try RPCEncoding.success(
        id: id, ServerRead.Result(value: HexBytes(Array(repeating: 5, count: max(0, 40 - offset)))))
    } else {
      answer = try RPCEncoding.success(id: id, Empty())
    }
    // Some answer at once, some too late, some twice.
    let delay = generator.chance(0.1) ? 40 : generator.number(in: 0...2)
    let isTwice = generator.chance(0.05)
    simulation.scheduler.schedule(after: .seconds(delay)) { [self, weak connection] in
      guard let connection, connection === self.connection, isHeard else { return }
      connection.receive(answer.dropLast())
      if isTwice { connection.receive(answer.dropLast()) }
    }
  }
}
