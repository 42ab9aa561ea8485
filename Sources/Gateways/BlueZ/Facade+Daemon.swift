import BledConnection
import BledRPC
import Bluetooth

/// The state of bled.
extension Facade: OwnSessionObserver {
  func began(_ adapters: [AdapterDescription]) {
    listed(adapters)
    _ = context.schedule(after: Self.startTime) { [weak self] in self?.serve() }
    for client in clients.all {
      resume(client, .everything)
      resume(client, .monitoring)
    }
  }

  private func resume(_ client: BusClient, _ purpose: BusClient.Purpose) {
    switch purpose {
    case .everything:
      discovery.resume(client)
      agents.resume(client)
      applications.resume(client)
      advertisements.resume(client)
    case .monitoring: monitors.resume(client)
    }
  }

  func lost(_ client: BusClient, _ purpose: BusClient.Purpose) {
    if purpose == .everything {
      notifications.lost(client)
      links.lost(client)
    }
    // With bled itself, all of them are resumed as soon as it is available again.
    _ = context.schedule(after: .seconds(1)) { [weak self] in
      guard let self, own.isReady, clients.known(client.name) === client else { return }
      resume(client, purpose)
    }
  }

  func listed(_ adapters: [AdapterDescription]) {
    for adapter in adapters { self.adapters.update(adapter) }
    context.flush()
    if !adapters.contains(where: { $0.state == "starting" }) { serve() }
  }

  private func serve() {
    guard !isServing else { return }
    isServing = true
    whenServing()
  }

  func listed(_ peripherals: [PeripheralList.Entry]) {
    for entry in peripherals {
      let isRemembered = devices.remembers(entry.address, entry.addressType.text)
      guard isRemembered || entry.state == "connected" || entry.blocked == true else { continue }
      let key = Device.Key(peripheral: entry.peripheral, adapter: entry.adapter)
      let path = devices.add(key, address: entry.address, addressType: entry.addressType.text)
      if let path, entry.blocked == true { devices.set(path, "Blocked", .boolean(true)) }
      if let path, let name = entry.name { devices.name(path, name) }
      if entry.state == "connected" { links.linkUp(entry.peripheral, isIncoming: entry.incoming == true) }
    }
  }

  func listed(_ bonds: [BondDescription]) { pairing.update(bonds) }

  func changed(_ adapter: AdapterDescription) {
    let path = adapters.path(of: adapter.adapter)
    if adapter.state == "absent", let path {
      devices.remove(of: adapter.adapter)
      discovery.lost(path)
      for registry in registries { registry.lost(path) }
    }
    adapters.update(adapter)
    if adapter.state != "starting", !isServing { own.readAdapters() }
  }

  func linkChanged(_ change: PeripheralLinkChanged.Params) {
    guard change.linked else {
      links.linkDown(change.peripheral, change.reason.map { LinkEndReason($0.bluetoothError) } ?? .unknown)
      // The device may have paired of its own accord.
      return own.readBonds()
    }
    // A device that has connected to this machine has no object yet.
    if devices.all(change.peripheral).isEmpty { own.readDevices() }
    links.linkUp(change.peripheral, isIncoming: change.incoming == true)
  }

  func servicesChanged(_ peripheral: String) {
    for device in devices.all(peripheral) { links.servicesChanged(device.path, own) }
  }

  func lost(_ error: BluetoothError) {
    isServing = false
    links.lose()
    adapters.lose()
    whenLost(error)
  }
}
