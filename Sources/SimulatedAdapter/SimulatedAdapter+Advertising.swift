import Adapter
import Bluetooth

/// One advertisement that is wanted, and what has become of it.
struct SimulatedAdvertisement {
  var wanted: AdvertisingParameters?
  /// Whether `wanted` has not been looked at yet.
  var isChanged = true
  var advertiser: Advertiser?
}

extension SimulatedAdapter {
  /// The advertisement that is wanted under this number from now on; nil for none.
  public func setAdvertising(_ set: AdvertisingSetID, _ parameters: AdvertisingParameters?) {
    advertisements[set, default: SimulatedAdvertisement()].wanted = parameters
    advertisements[set]?.isChanged = true
    settleSoon()
  }

  func settleAdvertising() {
    let sets = advertisements.keys.sorted { $0.value < $1.value }
    // What is no longer wanted makes room for what is.
    for set in sets where advertisements[set]?.wanted == nil {
      let advertiser = advertisements.removeValue(forKey: set)?.advertiser
      if let advertiser { end(advertiser, set) }
      for other in sets where advertiser != nil && advertisements[other]?.advertiser == nil {
        advertisements[other]?.isChanged = true
      }
    }
    guard state == .on else { return }
    for set in sets where advertisements[set]?.isChanged == true { begin(set) }
  }

  private func begin(_ set: AdvertisingSetID) {
    advertisements[set]?.isChanged = false
    guard var parameters = advertisements[set]?.wanted else { return }
    if let error = refusal(of: parameters, set) {
      if let advertiser = advertisements[set]?.advertiser {
        advertisements[set]?.advertiser = nil
        air.remove(advertiser)
      }
      onEvent?(.advertising(set, .failed(error)))
      return
    }
    parameters.interval = Self.granted(parameters.interval)
    if let advertiser = advertisements[set]?.advertiser {
      // An alarm of the old interval must not delay the new one.
      air.remove(advertiser)
      advertiser.parameters = parameters
      air.add(advertiser)
    } else {
      let stream = Stream.advertising.of(end.address, Int(set.value))
      let advertiser = Advertiser(.adapter, owner: self, parameters: parameters, stream: stream, air: air)
      advertisements[set]?.advertiser = advertiser
      air.add(advertiser)
    }
    onEvent?(.advertising(set, .on(interval: parameters.interval)))
  }

  private func refusal(of parameters: AdvertisingParameters, _ set: AdvertisingSetID) -> BluetoothError? {
    let room = description.advertisingDataLength
    guard max(parameters.data.count, parameters.scanResponse.count) <= room else {
      return GAPError.advertisingDataTooLong.error("The adapter advertises at the most \(room) octets: say less.")
    }
    let others = advertisements.filter { $0.key != set && $0.value.advertiser != nil }.count
    guard others < description.advertisingSets else {
      return GAPError.advertisingSetsExhausted.error(
        "All \(description.advertisingSets) advertisements of the adapter are in use: stop one.")
    }
    return nil
  }

  /// The interval in the controller's units of 625 µs, 20 ms to 10.24 s.
  private static func granted(_ wanted: Duration) -> Duration {
    .microseconds(min(max(wanted.wholeNanoseconds / 625_000, 32), 16384) * 625)
  }

  private func end(_ advertiser: Advertiser, _ set: AdvertisingSetID) {
    air.remove(advertiser)
    onEvent?(.advertising(set, .off))
  }

  /// Ends what is on the air; it stays wanted.
  func endAdvertising() {
    for set in advertisements.keys.sorted(by: { $0.value < $1.value }) {
      advertisements[set]?.isChanged = true
      guard let advertiser = advertisements[set]?.advertiser else { continue }
      advertisements[set]?.advertiser = nil
      end(advertiser, set)
    }
  }
}

extension SimulatedAdapter: Connectable {
  var linkEnd: SimulatedLink.End { end }

  func connectDelay() -> Duration { .milliseconds(30) }

  func answersConnect() -> Bool { state == .on && links.count < description.links }

  func accept(_ link: SimulatedLink) {
    hold(link)
    onEvent?(.connected(link))
  }
}
