import Adapter
import Bluetooth

// waiting     the device advertises → attempting
// attempting  its connect delay has passed: a link (the wish is fulfilled), a failure → resting, gone → waiting
// resting     the back-off has passed → waiting
//
// `cancelConnect` ends each of them; without power a wish waits.

/// A wish for a connection to one device.
final class ConnectionWish {
  enum State { case waiting, attempting, resting }

  var parameters: ConnectionParameters
  var state = State.waiting
  var attempts = 0
  /// Rings when the attempt's outcome is there, or the back-off has passed.
  var alarm: (any ScheduledWork)?

  init(_ parameters: ConnectionParameters) { self.parameters = parameters }

  /// How long to wait after a failed attempt: 100 ms, and each time twice that, up to 6.4 s.
  var backOff: Duration { .milliseconds(100 << min(max(attempts - 1, 0), 6)) }

  /// Drops the attempt or the back-off that is under way.
  func reset() {
    alarm?.cancel()
    alarm = nil
    state = .waiting
  }
}

extension SimulatedAdapter {
  /// Wants a connection to this device.
  public func connect(to address: DeviceAddress, _ parameters: ConnectionParameters) {
    if let wish = wishes[address] {
      wish.parameters = parameters
    } else {
      wishes[address] = ConnectionWish(parameters)
    }
    settleSoon()
  }

  /// Takes the wish back.
  public func cancelConnect(to address: DeviceAddress) {
    wishes.removeValue(forKey: address)?.reset()
    settleSoon()
  }

  /// Whether it listens for a device that it wants to connect to.
  var isInitiating: Bool { wishes.values.contains { $0.state == .waiting } }

  func settleConnecting() { tellWhetherListening() }

  /// Drops what is under way; the wishes stay.
  func endConnecting() {
    for wish in wishes.values { wish.reset() }
  }

  /// An advertisement was heard: the device that sent it can be connected to now.
  func initiate(_ advertiser: Advertiser) {
    guard advertiser.parameters.isConnectable, let wish = wishes[advertiser.address], wish.state == .waiting,
      let owner = advertiser.owner
    else { return }
    wish.state = .attempting
    wish.attempts += 1
    wish.alarm = scheduler.schedule(after: owner.connectDelay()) { [weak self, weak wish] in
      guard let self, let wish else { return }
      wish.alarm = nil
      conclude(wish, advertiser)
    }
    tellWhetherListening()
  }

  private func conclude(_ wish: ConnectionWish, _ advertiser: Advertiser) {
    guard links.count < description.links else {
      return fail(wish, advertiser.address, HCIReason.connectionLimitExceeded.error)
    }
    let outcome = air.connect(
      end, to: advertiser, attempts: wish.attempts, wish.parameters, packetsPerEvent: description.packetsPerEvent)
    switch outcome {
    case .connected(let link):
      wishes[advertiser.address] = nil
      hold(link)
      onEvent?(.connected(link))
    case .failed(let error): fail(wish, advertiser.address, error)
    case .gone: wish.state = .waiting
    }
    tellWhetherListening()
  }

  private func fail(_ wish: ConnectionWish, _ address: DeviceAddress, _ error: BluetoothError) {
    wish.state = .resting
    wish.alarm = scheduler.schedule(after: wish.backOff) { [weak self, weak wish] in
      wish?.reset()
      self?.tellWhetherListening()
    }
    onEvent?(.connectAttemptFailed(address, error))
  }

  /// Keeps a link until it ends.
  func hold(_ link: SimulatedLink) {
    links.append(link)
    link.onEnd = { [weak self, weak link] in self?.links.removeAll { $0 === link } }
  }
}
