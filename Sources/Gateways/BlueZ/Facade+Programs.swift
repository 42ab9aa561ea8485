import BledRPC

/// The sessions of the programs.
extension Facade: ClientObserver {
  func notified(_ client: BusClient, _ name: String, _ message: RPCMessage) {
    switch name {
    case ScanReport.name:
      if let report = try? message.params(ScanReport.Params.self) { discovery.received(report, by: client) }
    case GATTValue.name:
      if let value = try? message.params(GATTValue.Params.self) { notifications.value(value, client) }
    case GATTSubscriptionLost.name:
      if let lost = try? message.params(GATTSubscriptionLost.Params.self) { notifications.lost(lost, client) }
    case GATTServicesChanged.name:
      guard let change = try? message.params(GATTServicesChanged.Params.self) else { return }
      for device in devices.all(change.peripheral) { links.servicesChanged(device.path, client) }
    case PeripheralDisconnected.name:
      if let end = try? message.params(PeripheralDisconnected.Params.self) { links.ended(end, client) }
    case GATTReleased.name:
      guard let release = try? message.params(GATTReleased.Params.self) else { return }
      for device in devices.all(release.peripheral) { acquisitions.released(release, client, at: device.path) }
    case PeripheralParametersChanged.name: pairing.linkChanged()
    case ServerSubscribed.name, ServerUnsubscribed.name:
      guard let subscriber = try? message.params(Subscriber.self) else { return }
      applications.subscribed(subscriber, name == ServerSubscribed.name, client)
    case AdvertisingChanged.name:
      if let change = try? message.params(AdvertisingChanged.Params.self) { advertisements.changed(change, client) }
    case ServerReady.name: applications.ready(client)
    case ServerConfirmed.name:
      if let params = try? message.params(ServerConfirmed.Params.self) { applications.confirmed(params, client) }
    case PairingShowPasskey.name:
      if let show = try? message.params(PairingShowPasskey.Params.self) { agents.show(show, client) }
    case PairingEnded.name:
      if let end = try? message.params(PairingEnded.Params.self) { agents.ended(end, client) }
      own.readBonds()
    default: break
    }
  }

  func asked(_ client: BusClient, _ id: RequestID, _ method: String, _ message: RPCMessage) {
    if method == PairingConfirm.name, let params = try? message.params(PairingConfirm.Params.self) {
      return agents.confirm(params, id, client)
    }
    if method == PairingEnterPasskey.name, let params = try? message.params(PairingEnterPasskey.Params.self) {
      return agents.enter(params, id, client)
    }
    if method == ServerRead.name, let params = try? message.params(ServerRead.Params.self) {
      return applications.read(params, id, client)
    }
    if method == ServerWrite.name, let params = try? message.params(ServerWrite.Params.self) {
      return applications.write(params, id, client)
    }
    client.session.refuse(
      id, RPCError(code: RPCError.methodNotFound, message: "this client does not answer \(method)"))
  }

  func monitored(_ client: BusClient, _ name: String, _ message: RPCMessage) {
    guard name == ScanReport.name, let report = try? message.params(ScanReport.Params.self) else { return }
    monitors.received(report, by: client)
  }

  func left(_ client: BusClient) {
    discovery.left(client)
    notifications.left(client)
    acquisitions.left(client)
    agents.left(client)
    for registry in registries { registry.left(client) }
    autoConnections.left(client)
    context.bus.watch(client.name, false)
    links.left(client)
  }
}
