import Adapter
import BledRPC
import Bluetooth

/// A session that follows a train, or waits for that.
final class TrainFollower {
  let session: Session
  /// The subevents that it gets; nil for all.
  let subevents: Set<UInt8>?
  /// Waiting to be synchronised for the first time.
  var reply: Reply<PeriodicSync.Result>?
  var alarm: (any ScheduledWork)?
  /// Whether it knows the train as synchronised.
  var isSynced = false

  init(_ session: Session, subevents: Set<UInt8>?) {
    self.session = session
    self.subevents = subevents
  }

  /// Why it cannot get its subevents of a train; nil if it can.
  func problem(with train: TrainSubevents?) -> BluetoothError? {
    guard let subevents else { return nil }
    guard let train else {
      return BledError.invalidParameter.error("\"subevents\": the train has none, or its advertiser told of none")
    }
    guard let highest = subevents.max(), highest >= train.count else { return nil }
    return BledError.invalidParameter.error("\"subevents\": the train has those of 0 to \(train.count - 1)")
  }
}

/// A train that sessions follow or wait for.
final class FollowedTrain {
  /// The facts of a train while the adapter is synchronised.
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
  /// The subevents that were chosen last since it was found.
  var chosen: Set<UInt8> = []
  /// The number of its reports in the outbox of a lagging client; devices have positive numbers. Those of subevents
  /// have the numbers below.
  private let number: Int

  /// How many numbers in outboxes it has.
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

  /// The subevents that its followers get, as long as the adapter is synchronised.
  var wantedSubevents: Set<UInt8> {
    guard let subevents = synced?.subevents else { return [] }
    let all = Set(0..<UInt8(clamping: subevents.count))
    return followers.reduce(into: []) { $0.formUnion($1.subevents ?? all) }
  }

  /// The followers that get this packet, and the number of its report in their outboxes.
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
