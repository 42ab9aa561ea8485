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
    if subscriptions[handle] == nil {
      lastSubscription += 1
      subscriptions[handle] = SubscriptionMachine(number: lastSubscription)
    }
    if let actions = subscriptions[handle]?.subscribe(session, reply) { perform(actions, handle) }
  }

  /// Ends the subscription of a session; without one it does nothing.
  func unsubscribe(from handle: UInt16, _ session: Session, _ reply: Reply<Empty>?) {
    guard let actions = subscriptions[handle]?.unsubscribe(session, reply) else {
      reply?.succeed(Empty())
      return
    }
    perform(actions, handle)
  }

  /// Forgets a subscription whose handles the device declared void, without a word to the device.
  /// - Returns: whom values went to.
  func voidSubscription(to handle: UInt16, _ error: BluetoothError) -> [Session] {
    guard let machine = subscriptions.removeValue(forKey: handle) else { return [] }
    perform(machine.void(error), handle)
    return machine.members
  }

  /// Ends all subscriptions of a session that lets go of the device.
  func unsubscribeAll(_ session: Session) {
    for handle in subscriptions.keys.sorted() { unsubscribe(from: handle, session, nil) }
  }

  /// Asks the device to tell of changes of its services, once its Service Changed characteristic was discovered.
  func watchServices() {
    guard !watchesServices, let value = known.serviceChanged, let descriptor = known.configuration(of: value) else {
      return
    }
    watchesServices = true
    run(LinkOperation(session: nil, .subscribe(descriptor: descriptor, .indication)) { _ in nil })
  }

  private func perform(_ actions: [SubscriptionMachine<Session, Reply<Empty>>.Action], _ handle: UInt16) {
    for action in actions {
      switch action {
      case .enable:
        configure(handle, known.supports(handle, .notify).isEmpty ? .indication : .notification)
      case .disable: configure(handle, [])
      case .answer(let reply, let error):
        if let error { reply.fail(error) } else { reply.succeed(Empty()) }
      }
    }
    if subscriptions[handle]?.isOff == true { subscriptions[handle] = nil }
  }

  /// Writes the Client Characteristic Configuration, after looking for it if it is not known.
  private func configure(_ handle: UInt16, _ configuration: ClientConfiguration) {
    guard let number = subscriptions[handle]?.number else { return }
    do {
      if let descriptor = known.configuration(of: handle) {
        return run(
          LinkOperation(session: nil, .subscribe(descriptor: descriptor, configuration)) { [weak self] result in
            self?.configured(handle, number, result)
            return nil
          })
      }
      guard known.descriptors(of: handle) == nil, let range = try known.descriptorRange(of: handle) else {
        throw Self.noConfiguration(handle)
      }
      run(findConfiguration(of: handle, number, in: range, configuration))
    } catch {
      configured(handle, number, .failure((error as? BluetoothError) ?? Self.noConfiguration(handle)))
    }
  }

  private func findConfiguration(
    of handle: UInt16, _ number: Int, in range: ClosedRange<UInt16>, _ configuration: ClientConfiguration
  ) -> LinkOperation {
    LinkOperation(session: nil, .discoverDescriptors(in: range)) { [weak self] result in
      guard let self else { return nil }
      if case .success(.descriptors(let descriptors)) = result {
        known.add(descriptors, of: handle)
        if let descriptor = known.configuration(of: handle) { return .subscribe(descriptor: descriptor, configuration) }
        configured(handle, number, .failure(Self.noConfiguration(handle)))
      } else {
        configured(handle, number, result)
      }
      return nil
    }
  }

  private func configured(_ handle: UInt16, _ number: Int, _ result: Result<GATTResult, BluetoothError>) {
    guard subscriptions[handle]?.number == number else { return }
    let error: BluetoothError? = if case .failure(let error) = result { error } else { nil }
    if let actions = subscriptions[handle]?.written(error) { perform(actions, handle) }
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
