import Adapter
import BledRPC
import Bluetooth

/// Sessions that let devices pair with data exchanged out of band. A session's data, given or received, is valid until
/// it ends.
final class OutOfBandPairing {
  /// Maximum devices whose data a session may give.
  private static let maximum = 64

  private struct Key: Hashable {
    let slot: AdapterSlot
    let device: DeviceAddress
  }

  /// The session using data, and the kinds of pairings it serves.
  private struct Use {
    let session: Session
    let hasSecure: Bool
    let hasTemporaryKey: Bool

    init(_ data: OutOfBandData, by session: Session) {
      self.session = session
      hasSecure = data.secure != nil
      hasTemporaryKey = data.temporaryKey != nil
    }

    /// True if pairings with the data reach this security level.
    func reaches(_ level: Int) -> Bool { level == 4 && hasSecure || level == 3 && hasTemporaryKey }
  }

  /// The session that last gave a device's data.
  private var given: [Key: Use] = [:]
  /// The last session to have read an adapter's own data.
  private var readers: [AdapterSlot: Use] = [:]
  /// The number of pending reads.
  private var pendingReads: [AdapterSlot: Int] = [:]

  /// True if devices may initiate pairing with the adapter that has this identifier.
  func acceptsSome(on adapter: String) -> Bool {
    (readers.keys + given.keys.map(\.slot)).contains { $0.adapter.information.id == adapter }
  }

  /// - Parameter changed: called when others may pair than before.
  /// - Throws: `BledError.notPermitted` while data read by another user's program are in use: an adapter has one set,
  ///   and new data make it void.
  func read(
    _ slot: AdapterSlot, for session: Session, _ reply: Reply<PairingReadOutOfBand.Result>,
    _ changed: @escaping () -> Void
  ) throws {
    if let reader = readers[slot]?.session, reader.user != session.user, !session.answersForOthers {
      throw BledError.notPermitted.error(
        "a program of another user pairs with data of this adapter: try again when its session has ended")
    }
    pendingReads[slot, default: 0] += 1
    slot.adapter.readOutOfBand { [weak self] result in
      self?.pendingReads[slot, default: 1] -= 1
      switch result {
      case .failure(let error): reply.fail(error)
      case .success(let data):
        guard let secure = data.secure else {
          return reply.fail(GAPError.notSupported.error("the adapter has no data of LE Secure Connections"))
        }
        if session.isOpen {
          self?.readers[slot] = Use(data, by: session)
          changed()
        }
        let own = slot.adapter.information.address
        reply.succeed(
          .init(
            address: "\(own)", addressType: Word(own.kind), confirmation: HexBytes(secure.confirmation),
            random: HexBytes(secure.random), temporaryKey: data.temporaryKey.map(HexBytes.init)))
      }
    }
  }

  func set(_ params: PairingSetOutOfBand.Params, on slot: AdapterSlot, for session: Session) throws {
    guard let device = DeviceAddress(params.address, kind: params.addressType) else {
      throw BledError.invalidParameter.error("give \"address\" as six pairs of hex digits")
    }
    let key = Key(slot: slot, device: device)
    let former = given[key]?.session
    guard let data = try params.data else {
      if former === session { remove(key) }
      return
    }
    guard former.map({ $0.user == session.user }) ?? true || session.answersForOthers else {
      throw BledError.notPermitted.error("a program of another user has given the data of this device")
    }
    guard former === session || given.values.count(where: { $0.session === session }) < Self.maximum else {
      throw BledError.limitReached.error("a session gives the data of \(Self.maximum) devices at most: take some back")
    }
    try slot.adapter.setOutOfBand(data, of: device)
    given[key] = Use(data, by: session)
  }

  private func remove(_ key: Key) {
    given[key] = nil
    key.slot.adapter.removeOutOfBand(of: key.device)
  }

  /// A session requests security from a device: data given for it by another user's program is not used.
  func withdraw(_ device: DeviceAddress, on slot: AdapterSlot, unlessOf session: Session) {
    let key = Key(slot: slot, device: device)
    guard let giver = given[key]?.session, giver.user != session.user, !giver.answersForOthers else { return }
    remove(key)
  }

  /// True if the data given by an adapter counts in a pairing requested by a session: data read by another user's
  /// program does not.
  func countsOwnData(of slot: AdapterSlot, for session: Session?) -> Bool {
    guard let session, let reader = readers[slot]?.session else { return false }
    return reader.user == session.user || reader.answersForOthers
  }

  /// True if a session lets a device pair without a question, and reach this security level in that way.
  func reach(_ level: Int, _ addresses: [DeviceAddress], on slot: AdapterSlot) -> Bool {
    (addresses.map { given[Key(slot: slot, device: $0)] } + [readers[slot]]).contains { $0?.reaches(level) == true }
  }

  /// A session has ended.
  /// - Returns: true if the set of devices that may pair changes.
  func ended(_ session: Session) -> Bool {
    let gone = given.filter { $0.value.session === session }.keys
    let reads = readers.filter { $0.value.session === session }.keys
    gone.forEach(remove)
    for slot in reads {
      readers[slot] = nil
      // New data, which no program receives, makes the old void; so does another session's pending read.
      if pendingReads[slot, default: 0] == 0 { slot.adapter.readOutOfBand { _ in } }
    }
    return !gone.isEmpty || !reads.isEmpty
  }
}

extension PairingSetOutOfBand.Params {
  /// The data; nil for none.
  fileprivate var data: OutOfBandData? {
    get throws(BluetoothError) {
      var secure: SecureOutOfBandData?
      if confirmation != nil || random != nil {
        secure = SecureOutOfBandData(confirmation: confirmation?.octets ?? [], random: random?.octets ?? [])
        guard secure != nil else {
          throw BledError.invalidParameter.error("\"confirmation\" and \"random\" have 16 octets each")
        }
      }
      guard secure != nil || temporaryKey != nil else { return nil }
      guard let data = OutOfBandData(secure: secure, temporaryKey: temporaryKey?.octets) else {
        throw BledError.invalidParameter.error("\"temporaryKey\" has 16 octets, which are not all zero")
      }
      return data
    }
  }
}
