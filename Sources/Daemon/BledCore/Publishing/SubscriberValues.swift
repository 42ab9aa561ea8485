import BledRPC
import Bluetooth
import GATT

/// The values of sessions for one device: the queue of each session, and the unconfirmed indications.
///
/// A session pays for its values with its own queue (`QueuedUpdates`) and its turns on the link (`LinkRoom`). A value
/// in the queue has been accepted: it is sent unless its characteristic or the subscription goes first.
final class SubscriberValues {
  /// Maximum indications queued for a device, which confirms them one by one.
  static let maximumIndications = 8

  private unowned let hub: LinkHub
  private unowned let broker: ServerBroker
  private var queues: [Session: QueuedUpdates] = [:]
  private var pending: [IndicationID: Pending] = [:]

  /// An unconfirmed indication.
  private struct Pending {
    weak var session: Session?
    let update: ServerUpdate
  }

  /// The outcome for a subscriber of a value that may wait.
  enum Admission {
    case accepted
    /// The value was accepted in the place of an earlier one.
    case replacing
    case missed
  }

  init(on hub: LinkHub, broker: ServerBroker) {
    self.hub = hub
    self.broker = broker
  }

  /// True if values of the session wait: others must not overtake them.
  func areWaiting(of session: Session) -> Bool { queues[session] != nil }

  /// True if values have room: notifications on the link, indications in the queue. A link with room for one packet has
  /// room for the few of one call.
  func hasRoom(for updates: ServerUpdates) -> Bool {
    (updates.notified.isEmpty || hub.link.isWritable)
      && (updates.indicated.isEmpty || pending.count + updates.indicated.count <= Self.maximumIndications)
  }

  /// Sends values, which must have room.
  func send(_ updates: ServerUpdates, of session: Session) {
    if !updates.notified.isEmpty { hub.notify(updates.notified.map { ($0.handle, $0.value) }) }
    for update in updates.indicated {
      let id = broker.nextIndication()
      pending[id] = Pending(session: session, update: update)
      hub.indicate(update.value, of: update.handle, id: id)
    }
    hub.room.sent(updates.notified.count + updates.indicated.count, by: session)
  }

  /// Sends a value, or queues it if there is no room.
  func offer(_ update: ServerUpdate, of session: Session, isNewest: Bool) -> Admission {
    let updates = updates(update)
    var update = update
    if updates.indicated.isEmpty { update.confirmation = nil }
    if queues[session] == nil, hub.room.isFree, hasRoom(for: updates) {
      send(updates, of: session)
      return .accepted
    }
    var queue = queues[session] ?? QueuedUpdates()
    let missed = queue.append(update, isNewest: isNewest)
    queues[session] = queue
    hub.room.wait(for: .queued(session), of: session)
    guard let missed else { return .accepted }
    guard isNewest else { return .missed }
    report(missed, to: session, BledError.tooSlow.error("a newer value has replaced this one"))
    return .replacing
  }

  /// True if the session's first queued value can be sent, or there is none. A device that must discover changed
  /// services first gets it afterwards.
  func canSend(of session: Session) -> Bool {
    guard let first = queues[session]?.first else { return true }
    return hub.isInSync && hasRoom(for: updates(first))
  }

  /// The session has its turn: sends its first queued value, after a check for room.
  func takeTurn(of session: Session) {
    guard let update = queues[session]?.removeFirst() else { return }
    if queues[session]?.isEmpty == true {
      queues[session] = nil
    } else {
      hub.room.wait(for: .queued(session), of: session)
    }
    let updates = updates(update)
    send(updates, of: session)
    // The device has asked for notifications instead since.
    if updates.indicated.isEmpty { report(update, to: session, GATTError.notSubscribed.bluetoothError) }
  }

  private func updates(_ update: ServerUpdate) -> ServerUpdates {
    ServerUpdates([update]) { hub.subscription(of: $0) }
  }

  func indicationFinished(_ id: IndicationID, _ result: Result<Void, GATTError>) {
    if let finished = pending.removeValue(forKey: id), let session = finished.session {
      switch result {
      case .success: report(finished.update, to: session, nil)
      case .failure(let error): report(finished.update, to: session, error.bluetoothError)
      }
    }
    // Not while more of them wait for room: values that need none would always replace them.
    if pending.count < Self.maximumIndications { hub.roomAgain() }
  }

  /// Removes queued values.
  func drop(_ error: BluetoothError, where isMeant: (ServerUpdate) -> Bool) {
    for session in queues.keys.sorted(by: { $0.id < $1.id }) {
      guard var queue = queues[session] else { continue }
      let dropped = queue.removeAll(where: isMeant)
      queues[session] = queue.isEmpty ? nil : queue
      for update in dropped { report(update, to: session, error) }
    }
  }

  /// The session has ended: its values in the queue are void, and confirmations have no reader.
  func forget(_ session: Session) {
    queues[session] = nil
    for (id, indication) in pending where indication.session === session { pending[id]?.session = nil }
  }

  private func report(_ update: ServerUpdate, to session: Session, _ error: BluetoothError?) {
    guard let confirmation = update.confirmation else { return }
    session.send(
      ServerConfirmed.self,
      .init(
        central: hub.peripheral.id, handle: update.handle, confirmation: confirmation, error: error.map(RPCError.init)))
  }
}
