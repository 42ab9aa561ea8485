import Adapter
import BledRPC
import Bluetooth

extension ResponseSlots {
  /// A train's slots as requested by a program.
  /// - Throws: `BledError.invalidParameter` if they do not fit.
  init(_ params: AdvertisingStart.ResponseSlots, within train: PeriodicAdvertising) throws(BluetoothError) {
    func require(_ condition: Bool, _ rule: String) throws(BluetoothError) {
      guard condition else { throw BledError.invalidParameter.error("\"responses\": \(rule)") }
    }
    try require(train.data.isEmpty, "the data of such a train is sent with \(AdvertisingSend.name)")
    try require((1...128).contains(params.subevents), "\"subevents\" must be 1 to 128")
    try require((1...255).contains(params.slots), "\"slots\" must be 1 to 255")
    try require((0.0075...0.31875).contains(params.subeventInterval), "\"subeventInterval\" must be 0.0075 to 0.31875")
    try require((0.00125...0.3175).contains(params.slotDelay), "\"slotDelay\" must be 0.00125 to 0.3175")
    try require(
      (0.00025...0.031875).contains(params.slotSpacing), "\"slotSpacing\" must be 0.00025 to 0.031875 seconds")
    // In the controller's units (Core 5.4, Vol 4, Part E, 7.8.61).
    self.init(
      subevents: params.subevents, subeventInterval: Self.rounded(params.subeventInterval, to: 1250),
      delay: Self.rounded(params.slotDelay, to: 1250), spacing: Self.rounded(params.slotSpacing, to: 125),
      count: params.slots)
    let interval = Self.rounded(train.interval.inSeconds, to: 1250)
    try require(subeventInterval * subevents <= interval, "the subevents do not fit into the \"interval\"")
    try require(delay + spacing * count <= subeventInterval, "the slots do not fit into the \"subeventInterval\"")
  }

  private static func rounded(_ seconds: Double, to microseconds: Int64) -> Duration {
    .microseconds(Int64((seconds * 1_000_000 / Double(microseconds)).rounded()) * microseconds)
  }
}

extension SubeventData {
  /// A subevent's data as requested by a program.
  /// - Throws: `BledError.invalidParameter` if the train has no such subevent or slots.
  init(_ params: AdvertisingSend.Params, within train: AdvertisingStart.ResponseSlots) throws(BluetoothError) {
    let (subevents, slots) = (train.subevents, train.slots)
    let first = params.firstSlot ?? 0
    guard (0..<subevents).contains(params.subevent) else {
      throw BledError.invalidParameter.error("\"subevent\" must be 0 to \(subevents - 1)")
    }
    guard (0..<slots).contains(first), (0...(slots - first)).contains(params.slots ?? 0) else {
      throw BledError.invalidParameter.error("\"firstSlot\" and \"slots\" must be some of the \(slots) slots")
    }
    guard params.data.octets.count <= Self.longest else {
      throw BledError.invalidParameter.error("\"data\" must have at most \(Self.longest) octets")
    }
    self.init(
      subevent: UInt8(clamping: params.subevent), data: params.data.octets, firstSlot: UInt8(clamping: first),
      slots: UInt8(clamping: params.slots ?? slots - first))
  }
}

extension AdvertisingResponses.Params {
  /// The responses to an advertisement's subevent.
  init(advertising: Int, _ received: SubeventResponses, time: Double, lost: Int) {
    let responses = received.responses.map { response in
      AdvertisingResponses.Response(
        slot: Int(response.slot), data: HexBytes(response.data), rssi: response.rssi, txPower: response.txPower,
        truncated: response.isTruncated ? true : nil)
    }
    self.init(
      advertising: advertising, subevent: Int(received.subevent), sent: received.wasSent, responses: responses,
      time: time, lost: lost > 0 ? lost : nil)
  }
}
