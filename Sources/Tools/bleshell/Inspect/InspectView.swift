import BledClient
import BledRPC
import Bluetooth
import FoundationEssentials

/// A connected device on its own screen: executes the keys, and shows the results.
@MainActor final class InspectView {
  /// Timeout for reconnecting a lost device on request.
  private static let timeout = Duration.seconds(30)

  private let shell: Shell
  private let output: Output
  /// True if the shell holds the device, rather than the command.
  private let isHeld: Bool
  private let start = ContinuousClock.now
  private var device: Device
  private var inspection: Inspection
  private var screen: FullScreen?
  private var ended: CheckedContinuation<Void, any Error>?
  /// The tasks under way, to be cancelled at the end.
  private var tasks: [Task<Void, Never>] = []
  /// The tasks that follow the daemon, until the end.
  private var followers: [Task<Void, Never>] = []
  private lazy var pairing = PairingAtScreen { [weak self] in self?.change($0) }
  /// The values that are subscribed to, by handle.
  private var subscriptions: [UInt16: Task<Void, Never>] = [:]
  private var losses: Observation?

  init(_ device: Device, in shell: Shell, output: Output) {
    (self.device, self.shell, self.output) = (device, shell, output)
    isHeld = shell.devices.contains(device)
    let link = device.peripheral.link
    inspection = Inspection(heading: "\(device.name)  \(link.address) \(link.addressType)  \(link.adapter)")
  }

  /// Shows the device until the user ends it.
  /// - Throws: The end of the connection to the daemon.
  func run() async throws {
    let announce = shell.announce
    // The screen itself shows the events of its device.
    shell.announce = { [weak self] text in self?.change { $0.failed(nil, text) } }
    defer {
      (tasks + followers).forEach { $0.cancel() }
      subscriptions.values.forEach { $0.cancel() }
      losses?.cancel()
      screen?.end()
      shell.announce = announce
    }
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        ended = continuation
        begin()
        // A cancellation before this point found nothing to end.
        if Task.isCancelled { end() }
      }
    } onCancel: {
      Task { @MainActor in self.end() }
    }
  }

  private var now: Double { (ContinuousClock.now - start) / .seconds(1) }

  private func begin() {
    let screen = FullScreen(
      output: output,
      lines: { [unowned self] columns, rows in
        InspectScreen(columns: columns, rows: rows).lines(inspection, at: now)
      }, key: { [weak self] in self?.handle($0) }, hungUp: { [weak self] in self?.end() })
    self.screen = screen
    guard screen.begin() else { return end() }
    follow(device.peripheral.client)
    let (pairing, client) = (pairing, device.peripheral.client)
    stay { try await pairing.answer(on: client) }
    discover()
  }

  private func end(_ error: (any Error)? = nil) {
    screen?.end()
    if let error { ended?.resume(throwing: error) } else { ended?.resume() }
    ended = nil
  }

  private func change(_ change: (inout Inspection) -> Void) {
    change(&inspection)
    screen?.change()
  }

  /// Follows something until the screen ends.
  private func stay(_ body: @escaping @MainActor () async throws -> Void) {
    followers.append(Task { try? await body() })
  }

  private func spawn(_ body: @escaping @MainActor () async throws -> Void) {
    if tasks.count > 256 { tasks.removeFirst().cancel() }
    tasks.append(Task { try? await body() })
  }

  // MARK: Events of the daemon

  private func follow(_ client: BledClient) {
    losses = device.observeLosses { [weak self] text in self?.change { $0.failed(nil, text) } }
    let identifier = device.peripheral.identifier
    let ends = client.notifications(PeripheralDisconnected.self) { $0.peripheral == identifier }
    let returns = client.notifications(PeripheralConnected.self) { $0.peripheral == identifier }
    let services = client.notifications(GATTServicesChanged.self) { $0.peripheral == identifier }
    let links = client.notifications(PeripheralParametersChanged.self, buffering: .newest(16)) {
      $0.peripheral == identifier
    }
    followers.append(
      Task {
        do {
          for try await end in ends { lost(end) }
          if !Task.isCancelled { throw BledError.daemonUnreachable.error("the connection to bled was closed") }
        } catch {
          end(error)
        }
      })
    stay { for try await _ in returns { self.isBack() } }
    stay { for try await _ in services { self.discoverAgain() } }
    stay { for try await link in links { self.change { $0.describes(link) } } }
    stay {
      while !Task.isCancelled {
        if self.inspection.link == .up, let rssi = try? await self.device.peripheral.rssi() {
          self.change { $0.measured(rssi) }
        }
        // Awaited answers show their waiting time.
        self.screen?.change()
        try await Task.sleep(for: .seconds(1))
      }
    }
  }

  private func lost(_ end: PeripheralDisconnected.Params) {
    subscriptions.values.forEach { $0.cancel() }
    subscriptions = [:]
    let reason = end.reason?.message ?? "this program has disconnected"
    change { inspection in
      inspection.lost(reason)
      if end.reconnecting == true { inspection.connects() }
    }
  }

  private func isBack() {
    change { $0.isBack() }
    discoverAgain()
  }

  // MARK: The tree

  private func discoverAgain() {
    device.forgetTree()
    discover()
  }

  private func discover() {
    let device = device
    awaits("discovering the services", "tree", nil) { view in
      let link = try await device.peripheral.parameters()
      view.change { $0.describes(link) }
      let services = try await device.tree { found in
        Task { @MainActor in view.change { $0.progress("discovering the services: \(found)", of: "tree") } }
      }
      view.change { $0.found(services) }
      view.awaits("reading the descriptions", "notes", nil) { view in
        let notes = await device.notes(on: services) { handle, text in view.change { $0.note(text, for: handle) } }
        let described = await device.described(services)
        view.change { inspection in
          for (handle, text) in notes { inspection.note(text, for: handle) }
          inspection.described(described)
        }
      }
    }
  }

  // MARK: Keys

  private func handle(_ key: Key) {
    let size = Output.terminalSize
    switch inspection.handle(key, page: InspectScreen(columns: size.columns, rows: size.rows).page) {
    case .changed: break
    case .read(let handles): handles.forEach(read)
    case .write(let handle, let writing): write(writing, to: handle)
    case .subscribe(let handle): subscribe(handle)
    case .unsubscribe(let handle):
      subscriptions.removeValue(forKey: handle)?.cancel()
      change { $0.subscribes(handle, false) }
    case .reconnect: reconnect()
    case .answered(let number, let answer): pairing.answered(number, answer)
    case .ended: end()
    }
  }

  /// Runs a slow operation, and shows that; one at a time for each key.
  /// - Parameter handle: The attribute of a possible error.
  private func awaits(
    _ text: String, _ key: String, _ handle: UInt16?, _ body: @escaping @MainActor (InspectView) async throws -> Void
  ) {
    guard !inspection.awaited.contains(where: { $0.key == key }) else { return }
    change { $0.awaits(text, for: key, at: now) }
    spawn { [weak self] in
      guard let self else { return }
      do {
        try await body(self)
      } catch let error as BluetoothError {
        // The loss of the link is shown once, for all.
        if inspection.link == .up { change { $0.failed(handle, error.message) } }
      } catch {
        change { $0.failed(handle, "\(error)") }
      }
      change { $0.arrived(key) }
    }
  }

  private func attribute(_ handle: UInt16) -> Attribute? {
    inspection.rows.first { $0.handle == handle && $0.depth > 0 }?.attribute
  }

  private func read(_ handle: UInt16) {
    guard let attribute = attribute(handle) else { return }
    awaits("reading \(attribute.title)", "read \(handle)", handle) { view in
      let value = try await view.device.read(handle)
      view.change { $0.value(value, of: handle, at: Date(), "read") }
    }
  }

  private func write(_ writing: Writing, to handle: UInt16) {
    guard let attribute = attribute(handle) else { return }
    awaits("writing \(attribute.title)", "write \(handle)", handle) { view in
      let asked = Date()
      try await view.device.write(writing, to: attribute)
      view.change { $0.written(writing.octets, to: handle, asked: asked, at: Date()) }
    }
  }

  private func subscribe(_ handle: UInt16) {
    guard let attribute = attribute(handle) else { return }
    awaits("subscribing to \(attribute.title)", "subscribe \(handle)", handle) { view in
      let values = try await view.device.peripheral.subscribe(handle)
      view.change { $0.subscribes(handle, true) }
      view.subscriptions[handle] = Task { await view.receive(values, of: handle) }
    }
  }

  private func receive(_ values: AsyncThrowingStream<[UInt8], any Error>, of handle: UInt16) async {
    do {
      for try await value in values { change { $0.value(value, of: handle, at: Date(), "notified") } }
    } catch {
      if inspection.link == .up { change { $0.failed(handle, "the subscription ended: \(error)") } }
    }
    guard !Task.isCancelled else { return }
    subscriptions[handle] = nil
    change { $0.subscribes(handle, false) }
  }

  private func reconnect() {
    let name = device.name
    awaits("connecting to \(name)", "connect", nil) { view in
      do throws(BluetoothError) {
        let peripheral = try await view.device.peripheral.client.connect(
          .identifier(view.device.peripheral.identifier), timeout: Self.timeout)
        view.device = Device(peripheral: peripheral, name: name, names: view.device.naming.list, output: view.output)
      } catch {
        view.change { $0.lost(error.message) }
        return
      }
      if view.isHeld { view.shell.devices.choose(view.device) }
      view.isBack()
    }
  }
}
