import Adapter
import BledRPC
import Bluetooth

/// The links to devices, and which programs use them: Connect and Disconnect.
final class Links {
  /// The time of a connection attempt in seconds: callers give up after 25.
  private static let timeout = 20.0
  /// The pause before a link of programs that are not on the bus is shown: those of programs on the bus are shown at
  /// their answer.
  private static let pause = Duration.milliseconds(250)

  private let context: Context
  private let clients: Clients
  private let devices: Devices
  private let services: Services
  private var holders: [String: Holders] = [:]
  /// The calls of Connect that wait, by device and program.
  private var pending: [String: Set<String>] = [:]
  /// The processes that have disconnected from a device to which others are still connected: to them it is.
  private var hidden: [String: Set<Int32>] = [:]
  /// The calls of Disconnect that wait, by device and program.
  private var leaving: [String: Set<String>] = [:]
  /// The links of programs that are not on the bus, before they are shown.
  private var unseen: [String: any ScheduledWork] = [:]
  /// The links that are not shown because a call of Connect waits, which may get them.
  private var withheld: Set<String> = []

  /// The services of a device are known in this connection.
  var resolved: (String, BusClient) -> Void = { _, _ in }
  /// A device is not connected any more; told before its properties change.
  var disconnected: (String) -> Void = { _ in }

  init(_ context: Context, _ clients: Clients, _ devices: Devices, _ services: Services) {
    self.context = context
    self.clients = clients
    self.devices = devices
    self.services = services
  }

  func isConnected(_ path: String) -> Bool { devices.flag(path, "Connected") }

  // MARK: Connect

  func connect(_ call: BusCall, _ client: BusClient) {
    connect(call.path, client) { [context] in context.finish(call, $0) }
  }

  /// Connects a program to a device.
  func connect(_ path: String, _ client: BusClient, _ completion: @escaping (Result<Void, BusError>) -> Void) {
    guard let device = devices[path] else { return completion(.failure(.doesNotExist)) }
    if holders[path]?.connected.contains(client.name) == true { return completion(.success(())) }
    guard pending[path]?.contains(client.name) != true else { return completion(.failure(.inProgress)) }
    pending[path, default: []].insert(client.name)
    client.session.call(
      PeripheralConnect.self,
      PeripheralConnect.Params(
        peripheral: device.key.peripheral, adapter: device.key.adapter, timeout: Self.timeout)
    ) { [weak self] result in
      guard let self else { return }
      pending[path]?.remove(client.name)
      defer { showWithheld(path) }
      switch result {
      case .success(let link):
        guard clients.known(client.name) != nil, devices[path] != nil else {
          leave(device.key.peripheral, client)
          return completion(.failure(.failed("le-connection-abort-by-local")))
        }
        connected(path, client, mtu: link.mtu)
        completion(.success(()))
        resolve(path, client)
      case .failure(let error): completion(.failure(.connecting(error)))
      }
    }
  }

  /// ConnectDevice: connects a program to a device that was not heard; its object comes with the link.
  func connectDevice(_ call: BusCall, adapter: String, _ client: BusClient) {
    let named: NamedDevice
    do throws(BusError) {
      named = try NamedDevice(call.arguments[0])
    } catch {
      return context.fail(call, error)
    }
    let path = Device.path(call.path, named.address)
    guard devices[path] == nil else { return context.fail(call, .alreadyExists) }
    guard pending[path, default: []].insert(client.name).inserted else { return context.fail(call, .inProgress) }
    client.session.call(
      PeripheralConnect.self,
      PeripheralConnect.Params(
        address: named.address, addressType: named.addressType, adapter: adapter, timeout: Self.timeout)
    ) { [weak self, context] result in
      guard let self else { return }
      pending[path]?.remove(client.name)
      defer { showWithheld(path) }
      switch result {
      case .success(let link):
        let key = Device.Key(peripheral: link.peripheral, adapter: link.adapter)
        guard clients.known(client.name) != nil,
          let path = devices.add(key, address: link.address, addressType: link.addressType.text)
        else {
          leave(link.peripheral, client)
          return context.fail(call, .failed("le-connection-abort-by-local"))
        }
        connected(path, client, mtu: link.mtu)
        context.reply(call, .path(path))
        resolve(path, client)
      case .failure(let error): context.fail(call, .connecting(error))
      }
    }
  }

  private func connected(_ path: String, _ client: BusClient, mtu: Int) {
    holders[path, default: Holders()].connect(client.name)
    if let device = devices[path] { forget(device.key.peripheral) }
    show(path, to: client)
    services.link(path, mtu: mtu)
  }

  /// Gives a program the link that others have.
  func join(_ path: String, _ client: BusClient, _ completion: @escaping (Result<Device, BusError>) -> Void) {
    guard let device = devices[path] else { return completion(.failure(.doesNotExist)) }
    if holders[path]?.has(client.name) == true { return completion(.success(device)) }
    guard isConnected(path) else { return completion(.failure(.failed("Not connected"))) }
    client.session.call(
      PeripheralConnect.self,
      PeripheralConnect.Params(peripheral: device.key.peripheral, adapter: device.key.adapter, timeout: Self.timeout)
    ) { [weak self] result in
      guard let self else { return }
      switch result {
      case .success:
        holders[path, default: Holders()].join(client.name)
        completion(.success(device))
      case .failure(let error): completion(.failure(BusError(error, otherwise: .failed("Not connected"))))
      }
    }
  }

  private func resolve(_ path: String, _ client: BusClient) {
    guard !devices.flag(path, "ServicesResolved") else { return resolved(path, client) }
    services.discover(path, client) { [weak self] result in
      guard let self, isConnected(path) else { return }
      switch result {
      case .success:
        devices.set(path, "ServicesResolved", .boolean(true))
        resolved(path, client)
      case .failure:
        // The program that asked may have gone; another one asks then. A device that does not answer is let go, so
        // that nobody waits for it in vain.
        if let other = holders[path]?.connected.lazy.compactMap({ self.clients.known($0) }).first(where: {
          $0.name != client.name
        }) {
          resolve(path, other)
        } else {
          if let device = devices[path] { leave(device.key.peripheral, client) }
          released(path, client)
        }
      }
    }
  }

  /// The device's attributes have changed.
  func servicesChanged(_ path: String, _ client: BusClient) {
    guard devices.flag(path, "ServicesResolved") else { return }
    devices.set(path, "ServicesResolved", .boolean(false))
    context.flush()
    resolve(path, client)
  }

  // MARK: Disconnect

  /// Disconnects the caller. If it is not connected, the programs of its user are; root's call counts for all.
  ///
  /// The reply comes before the signal that `Connected` is false, as from BlueZ before 5.79: bleak closes its
  /// connection to the bus at that signal, and before its release 3.0 a reply that came later was an error to it.
  func disconnect(_ call: BusCall, _ client: BusClient) {
    disconnect(call.path, concerned(call.path, client), replying: { [context] in context.reply(call) })
  }

  /// Disconnects all programs that the caller may speak for, for a device that is to be removed.
  func disconnectAll(_ path: String, _ client: BusClient, _ completion: @escaping () -> Void) {
    disconnect(path, spokenFor(path, by: client), completion: completion)
  }

  /// - Parameters:
  ///   - reply: called when bled has answered for all of them.
  ///   - completion: called after that, when their links are shown as ended.
  private func disconnect(
    _ path: String, _ concerned: [BusClient], replying reply: @escaping () -> Void = {},
    completion: @escaping () -> Void = {}
  ) {
    var left = concerned.count
    let last = { [weak self] in
      reply()
      for other in concerned {
        self?.leaving[path]?.remove(other.name)
        self?.released(path, other)
      }
      completion()
    }
    guard let device = devices[path], left > 0 else { return last() }
    leaving[path, default: []].formUnion(concerned.map(\.name))
    for other in concerned {
      leave(device.key.peripheral, other) {
        left -= 1
        if left == 0 { last() }
      }
    }
  }

  private func concerned(_ path: String, _ client: BusClient) -> [BusClient] {
    let isOwn = holders[path]?.has(client.name) == true || pending[path]?.contains(client.name) == true
    return isOwn ? [client] : spokenFor(path, by: client)
  }

  /// The programs of the same user that use a device; for root, all.
  private func spokenFor(_ path: String, by client: BusClient) -> [BusClient] {
    let names = (holders[path]?.all ?? []).union(pending[path] ?? [])
    return names.sorted().compactMap { clients.known($0) }.filter {
      client.credentials.user == 0 || $0.credentials.user == client.credentials.user
    }
  }

  /// Tells bled that a program does not use the link any more.
  private func leave(_ peripheral: String, _ client: BusClient, _ completion: @escaping () -> Void = {}) {
    client.session.call(PeripheralDisconnect.self, PeripheralDisconnect.Params(peripheral: peripheral)) { _ in
      completion()
    }
  }

  /// A program does not use the link any more, and bled knows.
  private func released(_ path: String, _ client: BusClient, reason: Reason = local) {
    guard let device = devices[path] else { return }
    for other in remove(client, from: path) {
      if let other = clients.known(other) { leave(device.key.peripheral, other) }
    }
    settle(path, client, reason: reason)
  }

  private func remove(_ client: BusClient, from path: String) -> Set<String> {
    let process = client.credentials.process
    return holders[path]?.remove(client.name) { clients.known($0)?.credentials.process == process } ?? []
  }

  /// Shows that a program's link has ended: to all if nobody has one, else to its process.
  private func settle(_ path: String, _ client: BusClient, reason: Reason) {
    guard isConnected(path) else { return }
    guard holders[path]?.isEmpty != false else { return hide(path, from: client) }
    end(path, reason: reason)
  }

  private func end(_ path: String, reason: Reason) {
    holders[path] = nil
    hidden[path] = nil
    disconnected(path)
    devices.set(path, "ServicesResolved", .boolean(false))
    context.tree.emit(
      path, .device, "Disconnected", [.string("org.bluez.Reason." + reason.name), .string(reason.text)])
    devices.set(path, "Connected", .boolean(false))
  }

  // MARK: Views

  private func show(_ path: String, to client: BusClient) {
    devices.set(path, "Connected", .boolean(true))
    guard hidden[path]?.remove(client.credentials.process) != nil else { return }
    tell(client, path, isConnected: true)
  }

  private func hide(_ path: String, from client: BusClient) {
    let others = (holders[path]?.all ?? []).compactMap { clients.known($0)?.credentials.process }
    guard !others.contains(client.credentials.process) else { return }
    hidden[path, default: []].insert(client.credentials.process)
    tell(client, path, isConnected: false)
  }

  private func tell(_ client: BusClient, _ path: String, isConnected: Bool) {
    let isResolved = isConnected && devices.flag(path, "ServicesResolved")
    let values: ObjectTree.Properties = [
      ("Connected", .boolean(isConnected)), ("ServicesResolved", .boolean(isResolved)),
    ]
    for other in clients.sameProcess(as: client) {
      context.tell(other.name, ObjectTree.changed(path, .device, values))
    }
  }

  // MARK: Events

  /// bled says that a program's link has ended.
  func ended(_ params: PeripheralDisconnected.Params, _ client: BusClient) {
    for device in devices.all(params.peripheral) where holders[device.path]?.has(client.name) == true {
      // Its call of Disconnect is answered first.
      if leaving[device.path]?.contains(client.name) == true { continue }
      _ = remove(client, from: device.path)
      settle(device.path, client, reason: Self.reason(params.reason?.bluetoothError))
    }
  }

  // The names and texts of BlueZ (org.bluez.Device, Disconnected).
  private typealias Reason = (name: String, text: String)
  private static let local: Reason = ("Local", "Connection terminated by local host")
  private static let unknown: Reason = ("Unknown", "Unspecified")

  private static func reason(_ error: BluetoothError?) -> Reason {
    guard let error else { return local }
    switch (error.domain, error.code) {
    case (.hci, 0x08): return ("Timeout", "Connection timeout")
    case (.hci, 0x13), (.hci, 0x14), (.hci, 0x15): return ("Remote", "Connection terminated by remote user")
    case (.hci, 0x16): return local
    case (.hci, 0x05), (.hci, 0x06), (.hci, 0x3D):
      return ("Authentication", "Connection terminated due to authentication")
    default: return unknown
    }
  }

  /// A link of any program has come or gone.
  func linkChanged(_ peripheral: String, isLinked: Bool) {
    forget(peripheral)
    guard isLinked else {
      for device in devices.all(peripheral) where holders[device.path]?.isEmpty != false && isConnected(device.path) {
        end(device.path, reason: Self.unknown)
      }
      return
    }
    unseen[peripheral] = context.schedule(after: Self.pause) { [weak self] in
      guard let self else { return }
      unseen[peripheral] = nil
      reveal(peripheral)
    }
  }

  /// Shows a link of programs that are not on the bus. A call of Connect that waits shows it when it is of use; until
  /// then it may end, and another begin.
  private func reveal(_ peripheral: String) {
    let known = devices.all(peripheral)
    guard !known.contains(where: { isConnected($0.path) }), let device = known.first else { return }
    if known.contains(where: { pending[$0.path]?.isEmpty == false }) {
      withheld.insert(peripheral)
    } else {
      devices.set(device.path, "Connected", .boolean(true))
    }
  }

  /// A call of Connect has ended: its program may not have got the link that others have.
  private func showWithheld(_ path: String) {
    guard let device = devices[path], withheld.remove(device.key.peripheral) != nil else { return }
    reveal(device.key.peripheral)
  }

  /// Nothing is to be shown of a link any more.
  private func forget(_ peripheral: String) {
    unseen.removeValue(forKey: peripheral)?.cancel()
    withheld.remove(peripheral)
  }

  func left(_ client: BusClient) {
    for (path, holder) in holders where holder.has(client.name) {
      released(path, client)
    }
  }

  /// A program's session of bled has ended, and with it its links; the program is still there.
  func lost(_ client: BusClient) {
    for (path, holder) in holders where holder.has(client.name) { released(path, client, reason: Self.unknown) }
  }

  /// A device's object goes.
  func leaving(_ device: Device) {
    if isConnected(device.path) { end(device.path, reason: Self.local) }
    (holders[device.path], pending[device.path], hidden[device.path]) = (nil, nil, nil)
    leaving[device.path] = nil
    withheld.remove(device.key.peripheral)
  }

  /// bled is gone, and all links with it.
  func lose() {
    for work in unseen.values { work.cancel() }
    unseen = [:]
    withheld = []
    for device in devices.all where isConnected(device.path) { end(device.path, reason: Self.unknown) }
  }
}
