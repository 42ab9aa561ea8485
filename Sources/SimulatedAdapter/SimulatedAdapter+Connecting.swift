import Adapter
import Bluetooth

// waiting     the device advertises → attempting
// attempting  its connect delay has passed: a link (the connection is established), a failure → resting, gone → waiting
// resting     the back-off has passed → waiting
//
// `cancelConnect` ends each of them; without power it waits.

/// A pending connection to one device.
final class PendingConnection {
  enum State { case waiting, attempting, resting }

  var parameters: ConnectionParameters
  var state = State.waiting
  var attempts = 0
  /// Rings when the attempt is over, or the back-off has passed.
  var alarm: (any ScheduledWork)?

  init(_ parameters: ConnectionParameters) { self.parameters = parameters }

  /// How long to wait after a failed attempt: 100 ms, and each time twice that, up to 6.4 s.
  var backOff: Duration { .milliseconds(100 << min(max(attempts - 1, 0), 6)) }

  /// Drops the attempt or the back-off in progress.
  func reset() {
    alarm?.cancel()
    alarm = nil
    state = .waiting
  }
}

extension SimulatedAdapter {
  /// Adds a pending connection to this device.
  public func connect(to address: DeviceAddress, _ parameters: ConnectionParameters) {
    if let pending = pendingConnections[address] {
      pending.parameters = parameters
    } else {
      pendingConnections[address] = PendingConnection(parameters)
    }
    settleSoon()
  }

  /// Cancels the pending connection.
  public func cancelConnect(to address: DeviceAddress) {
    pendingConnections.removeValue(forKey: address)?.reset()
    settleSoon()
  }

  /// Whether it listens for a device with a pending connection.
  var isInitiating: Bool { pendingConnections.values.contains { $0.state == .waiting } }

  func settleConnecting() { tellWhetherListening() }

  /// Drops the attempts in progress; the pending connections stay.
  func endConnecting() {
    for pending in pendingConnections.values { pending.reset() }
  }

  /// An advertisement was received: its sender can be connected to now.
  func initiate(_ advertiser: Advertiser) {
    let address = advertiser.address
    guard advertiser.parameters.isConnectable, let pending = pendingConnections[address],
      pending.state == .waiting, hears(advertiser, on: pending.parameters.phys),
      let owner = advertiser.owner
    else { return }
    pending.state = .attempting
    pending.attempts += 1
    pending.alarm = scheduler.schedule(after: owner.connectDelay()) { [weak self, weak pending] in
      guard let self, let pending else { return }
      pending.alarm = nil
      conclude(pending, advertiser, address)
    }
    tellWhetherListening()
  }

  private func conclude(_ pending: PendingConnection, _ advertiser: Advertiser, _ address: DeviceAddress) {
    guard links.count < description.links else {
      return fail(pending, address, HCIReason.connectionLimitExceeded.error)
    }
    let outcome = air.connect(
      end, to: advertiser, at: address, attempts: pending.attempts, pending.parameters,
      packetsPerEvent: description.packetsPerEvent)
    switch outcome {
    case .connected(let link):
      pendingConnections[address] = nil
      hold(link)
      onEvent?(.connected(link))
    case .failed(let error): fail(pending, address, error)
    case .gone: pending.state = .waiting
    }
    tellWhetherListening()
  }

  private func fail(_ pending: PendingConnection, _ address: DeviceAddress, _ error: BluetoothError) {
    pending.state = .resting
    pending.alarm = scheduler.schedule(after: pending.backOff) { [weak self, weak pending] in
      pending?.reset()
      self?.tellWhetherListening()
    }
    onEvent?(.connectAttemptFailed(address, error))
  }

  /// Keeps a link until it ends.
  func hold(_ link: SimulatedLink) {
    links.append(link)
    tapped(link)
    link.onChannelRequest = { [weak self, weak link] psm in
      guard let parameters = self?.publishedChannels[psm] else { return nil }
      return ChannelListener(parameters: parameters) { channel in link?.onEvent?(.channel(channel)) }
    }
    link.onEnd = { [weak self, weak link] in self?.links.removeAll { $0 === link } }
  }
}
