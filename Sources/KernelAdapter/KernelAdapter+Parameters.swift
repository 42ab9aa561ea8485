import Adapter
import Bluetooth
import HCI

/// A request for other parameters of a link that is not settled.
struct ParameterRequest {
  typealias Done = (BluetoothError?) -> Void

  let update: LEConnectionUpdate
  let done: Done
  /// What was requested since: one request at a time is made, and only the newest is kept.
  var next: (update: LEConnectionUpdate, done: Done)?
}

extension KernelAdapter {
  /// Asks for other parameters. On a link that came to us the controllers settle it between them where both can (Core
  /// 5.4, Vol 6, Part B, 5.1.7). Where one cannot, only the kernel could ask the device's host (Vol 3, Part A, 4.20),
  /// and it has no call for that: data sent past it would upset its count of packets in flight.
  func request(_ parameters: ConnectionParameters, on link: KernelLink, _ done: @escaping ParameterRequest.Done) {
    request(
      LEConnectionUpdate {
        $0.handle = link.handle
        $0.intervalMin = TimeUnits.connection(parameters.interval.lowerBound)
        $0.intervalMax = TimeUnits.connection(parameters.interval.upperBound)
        $0.latency = UInt16(clamping: parameters.latency)
        $0.supervisionTimeout = TimeUnits.supervision(parameters.supervisionTimeout)
      }, done)
  }

  private func request(_ update: LEConnectionUpdate, _ done: @escaping ParameterRequest.Done) {
    let handle = update.handle
    guard radio != nil, links[handle]?.isDown == false else {
      return loop.execute { done(GAPError.notConnected.error("The link has ended.")) }
    }
    if let waiting = parameterRequests[handle] {
      parameterRequests[handle]?.next = (update, done)
      if let replaced = waiting.next { loop.execute { replaced.done(nil) } }
      return
    }
    parameterRequests[handle] = ParameterRequest(update: update, done: done)
    ask(update) { [weak self] answer in
      if !answer.status.isSuccess { self?.parametersSettled(handle, answer.status) }
    }
  }

  /// The event that settles a pending request may have been lost: all are made again.
  func repeatParameterRequests() {
    for (handle, request) in parameterRequests.sorted(by: { $0.key < $1.key }) {
      ask(request.update) { [weak self] answer in
        // It is still being settled.
        guard answer.status.code != .commandDisallowed, !answer.status.isSuccess else { return }
        self?.parametersSettled(handle, answer.status)
      }
    }
  }

  /// The controllers have settled it, or could not. The newest of the requests made in the meantime is next.
  func parametersSettled(_ handle: UInt16, _ status: HCIStatus) {
    guard let last = parameterRequests.removeValue(forKey: handle) else { return }
    let error = Self.refusal(status)
    loop.execute { last.done(error) }
    if let next = last.next { request(next.update, next.done) }
  }

  /// The link has ended.
  func dropParameterRequests(_ handle: UInt16) {
    guard let last = parameterRequests.removeValue(forKey: handle) else { return }
    loop.execute {
      let error = GAPError.notConnected.error("The link has ended.")
      last.done(error)
      last.next?.done(error)
    }
  }

  private static func refusal(_ status: HCIStatus) -> BluetoothError? {
    guard !status.isSuccess else { return nil }
    switch status.code {
    case .unknownHCICommand, .commandDisallowed, .unsupportedFeatureOrParameterValue, .unsupportedRemoteFeature:
      return GAPError.notSupported.error(
        "The two controllers cannot negotiate the connection's parameters: only the central can change them.")
    default: return status.error("The connection's parameters stay as they are")
    }
  }
}
