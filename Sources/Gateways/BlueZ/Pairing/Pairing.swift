import BledRPC
import Bluetooth

/// Pair, CancelPairing, and the properties Paired and Bonded.
final class Pairing: DeviceObserver {
  private let context: Context
  private let adapters: Adapters
  private let devices: Devices
  private let links: Links
  /// Reads the bonds from bled again.
  private let readBonds: () -> Void
  /// The program that pairs with a device, and true if it has cancelled that.
  private var pending: [String: (client: String, isCancelled: Bool)] = [:]

  init(
    _ context: Context, _ adapters: Adapters, _ devices: Devices, _ links: Links, readBonds: @escaping () -> Void
  ) {
    self.context = context
    self.adapters = adapters
    self.devices = devices
    self.links = links
    self.readBonds = readBonds
  }

  func pair(_ call: BusCall, _ client: BusClient) {
    let path = call.path
    guard !devices.flag(path, "Paired") else { return context.fail(call, .alreadyExists) }
    guard pending[path] == nil else { return context.fail(call, .inProgress) }
    pending[path] = (client.name, false)
    // Without a link it connects first, as BlueZ does.
    let isConnected = links.isConnected(path)
    let then: (Result<Void, BusError>) -> Void = { [weak self] result in
      guard let self else { return }
      switch result {
      case .success: raise(call, client)
      case .failure(let error): finish(call, .failure(error))
      }
    }
    if isConnected {
      links.join(path, client) { then($0.map { _ in }) }
    } else {
      links.connect(path, client, then)
    }
  }

  private func raise(_ call: BusCall, _ client: BusClient) {
    guard let device = devices[call.path] else { return finish(call, .failure(.doesNotExist)) }
    client.session.call(PeripheralPair.self, PeripheralPair.Params(peripheral: device.key.peripheral)) {
      [weak self] result in
      guard let self else { return }
      switch result {
      case .success(let bond):
        show(call.path, isPaired: true, isBonded: bond.bonded)
        // The device may have revealed its identity.
        if bond.bonded { readBonds() }
        finish(call, .success(()))
      case .failure(let error):
        let isCancelled = pending[call.path]?.isCancelled == true
        finish(call, .failure(isCancelled ? .authentication("Canceled") : Self.error(error)))
      }
    }
  }

  private static func error(_ error: BluetoothError) -> BusError {
    switch (error.domain, error.code) {
    case (.gap, GAPError.timeout.rawValue): .authentication("Timeout")
    case (.gap, GAPError.notConnected.rawValue), (.gap, GAPError.disconnected.rawValue): .authentication("Canceled")
    default: BusError(error, otherwise: .authentication("Failed"))
    }
  }

  private func finish(_ call: BusCall, _ result: Result<Void, BusError>) {
    pending[call.path] = nil
    context.finish(call, result)
  }

  func cancel(_ call: BusCall, _ client: BusClient) {
    guard let pairing = pending[call.path], pairing.client == client.name, let device = devices[call.path] else {
      return context.fail(call, .doesNotExist)
    }
    pending[call.path] = (client.name, true)
    client.session.call(
      PeripheralDisconnect.self, PeripheralDisconnect.Params(peripheral: device.key.peripheral)
    ) { [context] _ in context.reply(call) }
  }

  func leaving(_ device: Device) { pending[device.path] = nil }

  // MARK: Bonds

  /// The bonds as bled has them.
  func update(_ bonds: [BondDescription]) {
    var bonded: Set<String> = []
    for bond in bonds {
      guard let peripheral = bond.peripheral, let adapter = adapters.adapter(address: bond.adapterAddress) else {
        continue
      }
      let key = Device.Key(peripheral: peripheral, adapter: adapter)
      guard let path = devices.add(key, address: bond.address, addressType: bond.addressType.text) else { continue }
      devices.identify(path, address: bond.address, addressType: bond.addressType.text)
      if let name = bond.name { devices.name(path, name) }
      show(path, isPaired: true, isBonded: true)
      bonded.insert(path)
    }
    for device in devices.all where devices.flag(device.path, "Paired") && !bonded.contains(device.path) {
      // Keys that are not kept are valid as long as the link.
      if devices.flag(device.path, "Bonded") || !links.isConnected(device.path) {
        show(device.path, isPaired: false, isBonded: false)
      }
    }
  }

  /// The protection of a link has changed, perhaps by a pairing that a read began.
  func linkChanged() { readBonds() }

  private func show(_ path: String, isPaired: Bool, isBonded: Bool) {
    devices.set(path, "Paired", .boolean(isPaired))
    devices.set(path, "Bonded", .boolean(isBonded))
  }
}
