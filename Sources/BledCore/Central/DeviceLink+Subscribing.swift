import BledRPC
import Bluetooth
import GATT

extension DeviceLink {
  /// Subscribes a session to the notifications of a characteristic, or to its indications if it has no others.
  func subscribe(to handle: UInt16, _ session: Session, _ reply: Reply<Empty>) throws {
    guard !known.supports(handle, [.notify, .indicate]).isEmpty else {
      _ = try known.characteristic(at: handle)
      throw BledError.notAllowedByProperties.error("characteristic \(handle) neither notifies nor indicates")
    }
    reply.afterwards = { [unowned session, id = peripheral.id] outcome in
      guard case .failure(let error) = outcome else { return }
      session.send(GATTSubscriptionLost.self, .init(peripheral: id, handle: handle, reason: error))
    }
    subscriptions[handle, default: SubscriptionMachine()].join(session)
    run(switching(handle, on: true, session, reply))
  }

  /// Ends the subscription of a session; without one it does nothing.
  func unsubscribe(from handle: UInt16, _ session: Session, _ reply: Reply<Empty>) {
    subscriptions[handle]?.leave(session)
    run(switching(handle, on: false, session, reply))
  }

  /// Ends the subscription of a session that did not ask for that.
  func endSubscription(to handle: UInt16, of session: Session) {
    subscriptions[handle]?.leave(session)
    forgetIfIdle(handle)
    guard let machine = subscriptions[handle], machine.mustSwitch(on: false), !machine.isBeingEnded else { return }
    subscriptions[handle]?.isBeingEnded = true
    run(switching(handle, on: false, nil, nil))
  }

  /// Forgets a subscription whose handles the device declared void, without a word to the device.
  /// - Returns: whom values went to.
  func voidSubscription(to handle: UInt16) -> [Session] { subscriptions.removeValue(forKey: handle)?.members ?? [] }

  /// Ends all subscriptions of a session that lets go of the device.
  func unsubscribeAll(_ session: Session) {
    for handle in subscriptions.keys.sorted() { endSubscription(to: handle, of: session) }
  }

  /// Asks the device to tell of changes of its services, once its Service Changed characteristic was discovered.
  func watchServices() {
    guard !watchesServices, let value = known.serviceChanged, let descriptor = known.configuration(of: value) else {
      return
    }
    watchesServices = true
    run(LinkOperation(session: nil, .subscribe(descriptor: descriptor, .indication)) { _ in nil })
  }

  /// Has the device told, when it is the session's turn, what it has to know by then: whether somebody wants the values.
  private func switching(
    _ handle: UInt16, on: Bool, _ session: Session?, _ reply: Reply<Empty>?
  ) -> LinkOperation {
    var isWritten = false
    return LinkOperation(session: session, nil, outlastsProgram: true) { [weak self] result in
      guard let self else {
        reply?.fail(Self.gone)
        return nil
      }
      do {
        let result = try result.get()
        if isWritten { subscriptions[handle]?.switched(on: on) }
        if case .descriptors(let found) = result { known.add(found, of: handle) }
        if on, let session { try checkMember(session, of: handle) }
        if !isWritten, let next = try nextStep(handle, on: on) {
          if case .subscribe = next {
            isWritten = true
            subscriptions[handle]?.switching()
          }
          return next
        }
        reply?.succeed(Empty())
      } catch {
        let error = error.asBluetoothError
        // Any other error says nothing of the device: it may have done what it was told.
        if isWritten, error.domain == .att { subscriptions[handle]?.refused() }
        if on, let session { subscriptions[handle]?.leave(session) }
        reply?.fail(error)
      }
      if session == nil { subscriptions[handle]?.isBeingEnded = false }
      forgetIfIdle(handle)
      return nil
    }
  }

  /// What the device has to be asked: to configure the characteristic, or before that for its descriptors.
  private func nextStep(_ handle: UInt16, on: Bool) throws -> GATTProcedure? {
    guard subscriptions[handle]?.mustSwitch(on: on) == true else { return nil }
    if let descriptor = known.configuration(of: handle) {
      guard on else { return .subscribe(descriptor: descriptor, []) }
      return .subscribe(
        descriptor: descriptor, known.supports(handle, .notify).isEmpty ? .indication : .notification)
    }
    guard known.descriptors(of: handle) == nil, let range = try known.descriptorRange(of: handle) else {
      throw Self.noConfiguration(handle)
    }
    return .discoverDescriptors(in: range)
  }

  /// Who has unsubscribed meanwhile, or whose handle is void by now, has no subscription to be told of.
  private func checkMember(_ session: Session, of handle: UInt16) throws {
    guard subscriptions[handle]?.members.contains(session) != true else { return }
    _ = try known.characteristic(at: handle)
    throw GAPError.cancelled.error("the subscription was taken back")
  }

  private func forgetIfIdle(_ handle: UInt16) {
    if subscriptions[handle]?.isIdle == true { subscriptions[handle] = nil }
  }

  private static func noConfiguration(_ handle: UInt16) -> BluetoothError {
    GAPError.notSupported.error(
      "characteristic \(handle) has no Client Characteristic Configuration descriptor; it cannot be subscribed to")
  }
}

extension KnownAttributes {
  /// Which of these properties the characteristic has.
  func supports(_ handle: UInt16, _ wanted: CharacteristicProperties) -> CharacteristicProperties {
    (properties(of: handle) ?? []).intersection(wanted)
  }
}
