import Adapter
import BledRPC
import Bluetooth

/// Sessions that let devices pair with data exchanged out of band. The data that a session gave or received holds until
/// it ends.
final class OutOfBandPairing {
  /// How many devices' data a session may give.
  private static let maximum = 64

  private struct Key: Hashable {
    let slot: AdapterSlot
    let device: DeviceAddress
  }

  /// The session that gave the data of a device last.
  private var given: [Key: Session] = [:]
  /// The last session to have read an adapter's own data.
  private var readers: [AdapterSlot: Session] = [:]
  /// The number of reads that are under way.
  private var pendingReads: [AdapterSlot: Int] = [:]

  /// Whether devices may pair by themselves with the adapter that has this identifier.
  func acceptsSome(on adapter: String) -> Bool {
    (readers.keys + given.keys.map(\.slot)).contains { $0.adapter.information.id == adapter }
  }

  /// - Parameter changed: called when others may pair than before.
  /// - Throws: `BledError.notPermitted` while data that a program of another user has read are in use: an adapter has
  ///   one set, and new data make it void.
  func read(
    _ slot: AdapterSlot, for session: Session, _ reply: Reply<PairingReadOutOfBand.Result>,
    _ changed: @escaping () -> Void
  ) throws {
    if let reader = readers[slot], reader.user != session.user, !session.answersForOthers {
      throw BledError.notPermitted.error(
        "a program of another user pairs with data of this adapter: try again when its session has ended")
    }
    pendingReads[slot, default: 0] += 1
    slot.adapter.readOutOfBand { [weak self] result in
      self?.pendingReads[slot, default: 1] -= 1
      switch result {
      case .failure(let error): reply.fail(error)
      case .success(let data):
        if session.isOpen {
          self?.readers[slot] = session
          changed()
        }
        let own = slot.adapter.information.address
        reply.succeed(
          .init(
            address: "\(own)", addressType: Word(own.kind), confirmation: HexBytes(data.confirmation),
            random: HexBytes(data.random)))
      }
    }
  }

  func set(_ params: PairingSetOutOfBand.Params, on slot: AdapterSlot, for session: Session) throws {
    guard let device = DeviceAddress(params.address, kind: params.addressType) else {
      throw BledError.invalidParameter.error("give \"address\" as six pairs of hex digits")
    }
    let key = Key(slot: slot, device: device)
    guard params.confirmation != nil || params.random != nil else {
      guard given[key] === session else { return }
      given[key] = nil
      return slot.adapter.setOutOfBand(nil, of: device)
    }
    guard let confirmation = params.confirmation?.octets, let random = params.random?.octets,
      let data = OutOfBandData(confirmation: confirmation, random: random)
    else { throw BledError.invalidParameter.error("\"confirmation\" and \"random\" have 16 octets each") }
    guard given[key].map({ $0.user == session.user }) ?? true || session.answersForOthers else {
      throw BledError.notPermitted.error("a program of another user has given the data of this device")
    }
    guard given[key] === session || given.values.count(where: { $0 === session }) < Self.maximum else {
      throw BledError.limitReached.error("a session gives the data of \(Self.maximum) devices at most: take some back")
    }
    given[key] = session
    slot.adapter.setOutOfBand(data, of: device)
  }

  /// A session asks for security of a device: data that a program of another user gave for it are not used.
  func withdraw(_ device: DeviceAddress, on slot: AdapterSlot, unlessOf session: Session) {
    let key = Key(slot: slot, device: device)
    guard let giver = given[key], giver.user != session.user, !giver.answersForOthers else { return }
    given[key] = nil
    slot.adapter.setOutOfBand(nil, of: device)
  }

  /// Whether the data that an adapter gave count in a pairing that a session asks for: data that a program of
  /// another user has read do not.
  func countsOwnData(of slot: AdapterSlot, for session: Session?) -> Bool {
    guard let session, let reader = readers[slot] else { return false }
    return reader.user == session.user || reader.answersForOthers
  }

  /// The session that wants a device to pair without a question, and protected against a person in the middle.
  func giver(_ addresses: [DeviceAddress], on slot: AdapterSlot) -> Session? {
    addresses.lazy.compactMap { self.given[Key(slot: slot, device: $0)] }.first ?? readers[slot]
  }

  /// A session has ended.
  /// - Returns: whether that changes which devices may pair.
  func ended(_ session: Session) -> Bool {
    let gone = given.filter { $0.value === session }.keys
    let reads = readers.filter { $0.value === session }.keys
    for key in gone {
      given[key] = nil
      key.slot.adapter.setOutOfBand(nil, of: key.device)
    }
    for slot in reads {
      readers[slot] = nil
      // New data, which no program is given, make the old void; so does another session's read that is under way.
      if pendingReads[slot, default: 0] == 0 { slot.adapter.readOutOfBand { _ in } }
    }
    return !gone.isEmpty || !reads.isEmpty
  }
}
