import Adapter
import BledRPC
import Bluetooth

/// A session that follows a train, or waits for one.
final class TrainFollower {
  let session: Session
  /// The requested subevents; nil for all.
  let subevents: Set<UInt8>?
  /// Waiting to be synchronised for the first time.
  var reply: Reply<PeriodicSync.Result>?
  var alarm: (any ScheduledWork)?
  /// True once it was notified of the synchronisation.
  var isSynced = false

  init(_ session: Session, subevents: Set<UInt8>?) {
    self.session = session
    self.subevents = subevents
  }

  /// The reason why it cannot receive its subevents from a train; nil if it can.
  func problem(with train: TrainSubevents?) -> BluetoothError? {
    guard let subevents else { return nil }
    guard let train else {
      return BledError.invalidParameter.error("\"subevents\": the train has none, or its advertiser told of none")
    }
    guard let highest = subevents.max(), highest >= train.count else { return nil }
    return BledError.invalidParameter.error("\"subevents\": the train has those of 0 to \(train.count - 1)")
  }
}

/// A train followed or awaited by sessions.
final class FollowedTrain {
  /// A train's parameters while the adapter is synchronised.
  struct Synced {
    var interval: Duration
    var phy: PHY?
    var subevents: TrainSubevents?
  }

  let slot: AdapterSlot
  let name: PeriodicTrain
  let peripheral: Peripheral
  let phys: Set<PHY>
  var followers: [TrainFollower] = []
  private(set) var synced: Synced?
  /// How often it was found.
  private(set) var findings = 0
  /// The subevents last chosen since it was found.
  var chosen: Set<UInt8> = []
  /// The number for its reports in a slow client's outbox; devices have positive numbers. Subevents have the numbers
  /// below.
  private let number: Int

  /// The outbox numbers it uses.
  static let numbers = 1 + 256

  init(_ name: PeriodicTrain, of peripheral: Peripheral, on slot: AdapterSlot, number: Int, phys: Set<PHY>) {
    self.slot = slot
    self.name = name
    self.peripheral = peripheral
    self.number = number
    self.phys = phys
  }

  func found(_ synced: Synced) {
    self.synced = synced
    findings += 1
    chosen = []
  }

  func lost() { synced = nil }

  /// The subevents for its followers, while the adapter is synchronised.
  var wantedSubevents: Set<UInt8> {
    guard let subevents = synced?.subevents else { return [] }
    let all = Set(0..<UInt8(clamping: subevents.count))
    return followers.reduce(into: []) { $0.formUnion($1.subevents ?? all) }
  }

  /// The followers that receive this packet, and its report's number in their outboxes.
  func receivers(of packet: PeriodicPacket) -> (followers: [TrainFollower], number: Int) {
    let synced = followers.filter(\.isSynced)
    guard let subevent = packet.place?.subevent else { return (synced, number) }
    return (synced.filter { $0.subevents?.contains(subevent) ?? true }, number - 1 - Int(subevent))
  }

  func report(_ packet: PeriodicPacket, at time: Double) -> PeriodicReport.Params {
    var params = PeriodicReport.Params(
      peripheral: peripheral.id, adapter: slot.id, sid: Int(name.sid), data: HexBytes(packet.data), time: time)
    params.rssi = packet.rssi
    params.txPower = packet.txPower
    params.truncated = packet.isTruncated ? true : nil
    params.event = packet.place.map { Int($0.event) }
    params.subevent = packet.place.map { Int($0.subevent) }
    return params
  }

  func result(_ synced: Synced) -> PeriodicSync.Result {
    .init(
      peripheral: peripheral.id, adapter: slot.id, sid: Int(name.sid), interval: synced.interval.inSeconds,
      phy: synced.phy.map { Word($0) }, responses: synced.subevents.map { .init($0) })
  }

  func change(reason: BluetoothError? = nil) -> PeriodicChanged.Params {
    .init(
      peripheral: peripheral.id, adapter: slot.id, sid: Int(name.sid), synced: synced != nil,
      interval: synced?.interval.inSeconds, phy: synced?.phy.map { Word($0) }, reason: reason.map { RPCError($0) })
  }
}
