import Adapter
import BledRPC
import Bluetooth

extension PeriodicSync.Responses {
  /// The subevents of a followed train.
  init(_ subevents: TrainSubevents) {
    let hasSlots = subevents.slotSpacing > .zero
    self.init(
      subevents: subevents.count, subeventInterval: subevents.interval.inSeconds,
      slotDelay: hasSlots ? subevents.slotDelay.inSeconds : nil,
      slotSpacing: hasSlots ? subevents.slotSpacing.inSeconds : nil)
  }
}

extension PeriodicSync.Params {
  /// The subevents requested by a session; nil for all.
  /// - Throws: `BledError.invalidParameter` if no train has such ones.
  static func chosen(_ subevents: [Int]?) throws(BluetoothError) -> Set<UInt8>? {
    guard let subevents else { return nil }
    guard (1...128).contains(subevents.count), subevents.allSatisfy((0...127).contains) else {
      throw BledError.invalidParameter.error("\"subevents\" must be 1 to 128 numbers of 0 to 127")
    }
    return Set(subevents.map { UInt8(clamping: $0) })
  }
}

extension TrainResponse {
  /// A program's response to a train's packet.
  /// - Throws: `BledError.invalidParameter` if the train has no such subevent or slots.
  init(_ params: PeriodicRespond.Params, within train: TrainSubevents?) throws(BluetoothError) {
    func require(_ condition: Bool, _ rule: String) throws(BluetoothError) {
      guard condition else { throw BledError.invalidParameter.error(rule) }
    }
    guard let train, train.slotSpacing > .zero else {
      throw BledError.invalidParameter.error("the train has no slots for responses")
    }
    let (range, own) = (0..<train.count, params.responseSubevent ?? params.subevent)
    try require((0...65535).contains(params.event), "\"event\" must be 0 to 65535")
    try require(range.contains(params.subevent), "\"subevent\" must be 0 to \(train.count - 1)")
    try require(range.contains(own), "\"responseSubevent\" must be 0 to \(train.count - 1)")
    try require((0...254).contains(params.slot), "\"slot\" must be 0 to 254")
    try require(params.data.octets.count <= Self.longest, "\"data\" must have at most \(Self.longest) octets")
    self.init(
      to: SubeventPlace(
        event: UInt16(truncatingIfNeeded: params.event), subevent: UInt8(truncatingIfNeeded: params.subevent)),
      subevent: UInt8(truncatingIfNeeded: own), slot: UInt8(truncatingIfNeeded: params.slot),
      data: params.data.octets)
  }
}
