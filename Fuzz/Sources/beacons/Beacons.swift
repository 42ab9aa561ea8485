import Beacons
import Bluetooth
import BluetoothCrypto
import Fuzzing

/// Advertising data in the formats of beacons and sensors: nothing traps, there are bounds, what is read is written
/// again as it was, and no beacon is followed that is not in reach.
@main
enum Beacons {
  static func main() {
    fuzz { octets in
      var input = FuzzInput(octets)
      switch input.octet() & 3 {
      case 0: check(AdvertisingData(parsing: input.remainder()), opensWith: nil)
      case 1:
        let octets = input.remainder()
        check(AdvertisingData(parsing: octets), opensWith: octets)
      case 2: checkCCM(&input)
      default: range(&input)
      }
    }
  }

  private static func check(_ data: AdvertisingData, opensWith objects: [UInt8]?) {
    let address = DeviceAddress(value: 0x5448_E68F_80A5, kind: .public)
    let decoded = data.decoded(address: address) { sealed in
      invariant(12...13 ~= sealed.nonce.count && sealed.check.count == 4, "what is sealed has another form")
      return objects.map(SealedData.Opened.octets) ?? .keyIsWrong
    }
    invariant(decoded.count <= AdvertisingData.maximumDecoded, "\(decoded.count) things were decoded")
    for thing in decoded {
      invariant(DecodedData.Kind.allCases.contains { $0.rawValue == thing.kind }, "a kind of its own: \(thing.kind)")
      invariant(Set(thing.members.map(\.name)).count == thing.members.count, "a name twice: \(thing)")
      for member in thing.members {
        if case .number(let number) = member.value { invariant(number.isFinite, "\(member.name) is \(number)") }
      }
      _ = thing.text
    }
    for maker in data.manufacturerData {
      if let beacon = IBeacon(maker) { invariant(beacon.manufacturerData == maker, "another iBeacon: \(beacon)") }
      if let beacon = AltBeacon(maker) { invariant(beacon.manufacturerData == maker, "another AltBeacon: \(beacon)") }
    }
    for service in data.serviceData where service.uuid == Eddystone.service {
      guard case .url(let power, let url) = Eddystone(service.data) else { continue }
      // The same URL can be written in several ways, of which the shortest is chosen.
      guard let octets = try? Eddystone.urlData(txPower: power, url: url) else {
        return invariant(false, "\(url) was read and cannot be written")
      }
      invariant(octets.count <= service.data.count, "\(url) became longer")
      invariant(Eddystone(octets) == .url(txPower: power, url: url), "\(url) became another one")
    }
  }

  private static func checkCCM(_ input: inout FuzzInput) {
    guard let key = Key128(bigEndian: Array(repeating: input.octet(), count: 16)) else { return }
    let nonce = (0..<input.octet() & 15).map { _ in input.octet() }
    let check = (0..<input.octet() & 31).map { _ in input.octet() }
    let payload = input.remainder()
    let message = AESCCM.open(payload, check: check, nonce: nonce, associatedData: check, key: key)
    invariant(message == nil || message?.count == payload.count, "a message of another length")
  }

  private static func range(_ input: inout FuzzInput) {
    let uuid: BluetoothUUID = 0x180D
    var ranging = BeaconRanging(region: .init(uuid: uuid, major: input.octet() & 1 == 0 ? nil : 3))
    var inReach: Set<UInt32> = []
    var now = Instant.zero
    func name(_ ranged: BeaconRanging.Ranged) -> UInt32 {
      UInt32(ranged.beacon.major) << 16 | UInt32(ranged.beacon.minor)
    }
    while !input.isEmpty {
      let choice = input.octet()
      now = now.advanced(by: .milliseconds(Int(input.octet()) * 20))
      let beacon = IBeacon(
        uuid: uuid, major: UInt16(choice & 7), minor: UInt16(input.octet()),
        measuredPower: Int8(bitPattern: input.octet()))
      let rssi = choice & 8 == 0 ? Int(Int8(bitPattern: input.octet())) : nil
      let events = choice & 16 == 0 ? ranging.received(beacon, rssi: rssi, at: now) : ranging.tick(at: now)
      for event in events {
        switch event {
        case .entered(let ranged): invariant(inReach.insert(name(ranged)).inserted, "entered twice")
        case .moved(let ranged): invariant(inReach.contains(name(ranged)), "moved without having entered")
        case .exited(let ranged): invariant(inReach.remove(name(ranged)) != nil, "exited without having entered")
        }
      }
      invariant(ranging.beacons.count == inReach.count, "\(ranging.beacons.count) are in reach, not \(inReach.count)")
      invariant(inReach.count <= BeaconRanging.limit, "too many beacons are followed")
      invariant((ranging.deadline == nil) == inReach.isEmpty, "a deadline without a beacon")
    }
  }
}
