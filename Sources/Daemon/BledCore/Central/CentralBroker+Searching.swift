import Adapter
import BledRPC
import Bluetooth

extension CentralBroker: ScanObserver {
  /// Connects to the first device that meets criteria: one that is already linked, or the next one discovered.
  func search(
    by criteria: DeviceCriteria, _ wish: ConnectWish, on adapter: String?, for session: Session,
    _ reply: Reply<PeripheralConnect.Result>
  ) throws {
    guard rules.permissions(of: session).contains(.scan) else {
      throw rules.policy.refusal(of: .scan, to: session.credentials)
    }
    guard !session.isBackground || criteria.service != nil else {
      throw BledError.invalidParameter.error(
        "this session runs in the background, where a device can be looked for by \"service\" only")
    }
    let slot = try adapter.map { try adapters.findUsable($0) }
    if slot == nil, !adapters.slots.contains(where: \.isUsable) { _ = try adapters.findUsable(nil) }
    let linked = inOrder.first { connection in
      connection.link != nil && (slot == nil || connection.slot == slot) && criteria.admits(connection.peripheral)
    }
    if let linked {
      return try connect(
        to: linked.peripheral, on: slot ?? linked.peripheral.adapter, wish, for: session, reply, foundBy: criteria)
    }
    try admit(session)
    searches.begin(
      DeviceSearch(
        criteria, wish, on: slot, for: session, reply,
        deadline: wish.timeout.map { scheduler.now.advanced(by: .seconds($0)) }))
  }

  func discovered(_ peripheral: Peripheral, on slot: AdapterSlot) {
    if !links.blocked.contains(peripheral) { searches.discovered(peripheral, on: slot) }
  }

  /// A device matches a session's search.
  func found(_ peripheral: Peripheral, by search: DeviceSearch) {
    var wish = search.wish
    wish.timeout = search.deadline.map { scheduler.now.duration(to: $0).inSeconds }
    do {
      try connect(
        to: peripheral, on: search.slot ?? peripheral.adapter, wish, for: search.session, search.reply,
        foundBy: search.criteria)
    } catch {
      search.reply.fail(error as? BluetoothError ?? GAPError.connectionFailed.error("\(error)"))
    }
  }
}
