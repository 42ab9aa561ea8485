import Adapter
import Bluetooth
import GATT
import Logging

/// Executes the actions of `LinkUp`.
final class LinkUpRunner {
  private(set) var machine: LinkUp
  private unowned let link: CentralLink
  private unowned let hub: LinkHub
  /// Rings at the machine's deadline.
  private var alarm: (any ScheduledWork)?
  /// Encryptions begun so far: the outcome of an earlier one says nothing about the last.
  private var encryptions = 0

  init(_ link: CentralLink) {
    self.link = link
    hub = link.hub
    machine = LinkUp(role: hub.link.role)
  }

  /// Programs want to use the link; `PeripheralConnection.negotiated` is called when they can.
  func begin() {
    let mustExchange = hub.link.role == .central && hub.link.mustReceive
    run {
      $0.begin(
        level: hub.bondLevel, exchanges: !hub.peripheral.ignoresMTU, exchangesFirst: mustExchange,
        now: hub.scheduler.now)
    }
  }

  private func exchange() {
    let completion = LinkOperation.Completion { [unowned self] outcome in
      // A device that refuses keeps the MTU of 23; if the link is down, its end follows.
      if case .failure(.bearer(let error)) = outcome {
        // Any other failure on the bearer ends the link, too.
        if case .timeout = error { run { $0.exchangeTimedOut() } }
      } else if hub.isOpen {
        // Calls waiting for the link have the MTU in their answers.
        hub.toldMTU = hub.mtu
        hub.peripheral.lostExchanges = 0
        run { $0.exchanged(now: hub.scheduler.now) }
      }
    }
    link.enqueue(LinkOperation(nil, .other, completion, .exchangeMTU))
  }

  /// The link has ended.
  func linkEnded(_ reason: BluetoothError) { run { $0.linkEnded(reason) } }

  private func run(_ input: (inout LinkUp) -> [LinkUp.Action]) {
    let actions = input(&machine)
    alarm?.cancel()
    alarm = machine.deadline.map { deadline in
      hub.scheduler.schedule(at: deadline) { [weak self] in
        guard let self else { return }
        run { $0.timePassed(self.hub.peripheral.address, now: self.hub.scheduler.now) }
      }
    }
    for action in actions { perform(action) }
  }

  private func perform(_ action: LinkUp.Action) {
    switch action {
    case .encrypt(let level):
      encryptions += 1
      hub.encrypt(level) { [weak self, encryptions] error in
        guard let self, self.encryptions == encryptions else { return }
        run { $0.encryptionEnded(error) }
      }
    case .improve: link.connection?.improve()
    case .exchange: exchange()
    case .ready:
      link.connection?.negotiated()
      // Our own requests that had to wait.
      link.securityChanged()
    case .keysLost(let error):
      hub.keysLost()
      link.connection?.unusable(error.ofLostKeys(hub.peripheral.address))
    case .fail(let error): link.connection?.unusable(error)
    case .disconnect(let error): hub.disconnect(because: error)
    case .lost(let exchange):
      let isTooMany = link.broker.directory.lostExchange(
        with: hub.peripheral, maximum: exchange.maximum, isUnanswered: exchange == .unanswered)
      guard isTooMany else { return }
      link.broker.logger.warning(
        "\(hub.peripheral.address) \(exchange.words) Exchange MTU; the next links keep the default MTU",
        metadata: .about(hub.peripheral, adapter: hub.slot))
    }
  }
}

extension BluetoothError {
  /// The error for calls waiting for a link whose device has lost its keys: PIN or Key Missing (Core 5.4, Vol 1, Part
  /// F, 2.6).
  fileprivate func ofLostKeys(_ peer: DeviceAddress) -> BluetoothError {
    BluetoothError(
      domain: .hci, code: 0x06, name: "pinOrKeyMissing",
      message: domain == .gap
        ? message
        : "\(peer) and this machine do not share keys any more: remove the pairing on both sides, then pair again (\(message))"
    )
  }
}
