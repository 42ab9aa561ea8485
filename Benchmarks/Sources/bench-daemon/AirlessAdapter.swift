import Adapter
import Bluetooth
import EventLoop

/// An adapter whose devices are always there: whichever address is asked for connects, and answers from the call after.
final class AirlessAdapter: Adapter {
  private(set) var state = AdapterState.off
  private(set) var information = AdapterInformation(id: "airless", kind: "bench")
  var onEvent: ((AdapterEvent) -> Void)?

  private let scheduler: any Scheduler
  private let loop: EventLoop
  private var isScanning = false

  init(scheduler: any Scheduler, loop: EventLoop) {
    self.scheduler = scheduler
    self.loop = loop
  }

  func start() {
    loop.execute { [self] in
      state = .on
      onEvent?(.stateChanged)
    }
  }

  func stop(_ done: @escaping () -> Void) { loop.execute(done) }

  func setPower(_ on: Bool, _ done: @escaping (BluetoothError?) -> Void) { loop.execute { done(nil) } }

  func setScan(_ parameters: ScanParameters?) {
    isScanning = parameters != nil
    loop.execute { [self] in onEvent?(.scanning(isScanning)) }
  }

  func setAdvertising(_ set: AdvertisingSetID, _ parameters: AdvertisingParameters?) {}

  func setSubevent(
    _ data: SubeventData, of set: AdvertisingSetID, _ done: @escaping (BluetoothError?) -> Void
  ) {
    loop.execute { done(Self.noTrains) }
  }

  func setSync(_ train: PeriodicTrain, _ parameters: SyncParameters?) {}

  func setSubevents(_ subevents: [UInt8], of train: PeriodicTrain, _ done: @escaping (BluetoothError?) -> Void) {
    loop.execute { done(Self.noTrains) }
  }

  func respond(_ response: TrainResponse, to train: PeriodicTrain, _ done: @escaping (BluetoothError?) -> Void) {
    loop.execute { done(Self.noTrains) }
  }

  func connect(to address: DeviceAddress, _ parameters: ConnectionParameters) {
    loop.execute { [self] in
      let link = AirlessLink(peer: address, loop: loop) { [weak self] count, devices in
        self?.report(count, of: devices)
      }
      onEvent?(.connected(link))
    }
  }

  func publishChannel(_ psm: UInt16?, _ parameters: ChannelParameters) throws(BluetoothError) -> UInt16 {
    throw GAPError.notSupported.error("there are no channels here")
  }

  func unpublishChannel(_ psm: UInt16) {}

  func setBonds(_ bonds: any BondSource) {}

  func bondsAdded() {}

  func setPairing(_ settings: PairingSettings) {}

  func setPrivacy(_ settings: PrivacySettings?) {}

  func answer(_ question: QuestionID, _ answer: PairingAnswer) {}

  func readOutOfBand(_ done: @escaping (Result<OutOfBandData, BluetoothError>) -> Void) {
    loop.execute { done(.failure(Self.nothingPairs)) }
  }

  func setOutOfBand(_ data: OutOfBandData, of address: DeviceAddress) throws(BluetoothError) {}
  func removeOutOfBand(of address: DeviceAddress) {}

  func unpair(_ address: DeviceAddress) {}

  static let noTrains = GAPError.notSupported.error("there are no trains here")
  static let nothingPairs = GAPError.notSupported.error("nothing pairs here")

  func tap(_ onEvent: @escaping (TapEvent) -> Void) throws(BluetoothError) -> any PacketTap {
    throw GAPError.notSupported.error("there are no packets here")
  }

  func cancelConnect(to address: DeviceAddress) {}

  /// Hears so many advertisements, of so many devices in turn, a few in each turn of the loop.
  private func report(_ count: Int, of devices: Int, from first: Int = 0) {
    let time = scheduler.now
    let end = min(count, first + AirlessLink.burst)
    for number in first..<end { onEvent?(.report(Self.advertisement(number % max(1, devices), time))) }
    if end < count { loop.execute { [self] in report(count, of: devices, from: end) } }
  }

  /// Flags, a service, a name and data of its maker, 31 octets together. Every second device has another service.
  private static func advertisement(_ number: Int, _ time: Instant) -> AdvertisingReport {
    let service: UInt8 = number.isMultiple(of: 2) ? 0x0D : 0x0F
    let value = UInt64(number)
    let octets: [UInt8] =
      [2, 0x01, 6, 3, 0x03, service, 0x18, 12, 0x09] + Array("Bench device".utf8.prefix(11))
      + [10, 0xFF, 0xFF, 0xFF, 1, 2, 3, 4, 5, UInt8(truncatingIfNeeded: value >> 8), UInt8(truncatingIfNeeded: value)]
    return AdvertisingReport(
      address: DeviceAddress(value: 0xC000_0000_0000 | value, kind: .random), isScannable: false, rssi: -60,
      data: octets, time: time)
  }
}
