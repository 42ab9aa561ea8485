import Bluetooth
import GATT
import Testing

@testable import BledCore

/// Knowledge of a device's attributes, and its form in the store.
@Suite struct KnownAttributesTests {
  private let long = BluetoothUUID("12345678-1234-5678-1234-567812345678") ?? 0

  /// A tree with everything in it, complete or not.
  private var known: KnownAttributes {
    get throws {
      var known = KnownAttributes()
      known.add(1...5, 0x1800, isPrimary: true)
      known.add(6...20, long, isPrimary: true)
      known.addedAll(of: 0x1800)
      known.addedAll(of: long)
      known.add([DiscoveredInclude(handle: 7, range: 30...40, uuid: 0x180F)], of: 6)
      known.add(
        [
          DiscoveredCharacteristic(
            handle: 8, valueHandle: 9, endHandle: 12, properties: [.notify, .read], uuid: 0x2A19),
          DiscoveredCharacteristic(handle: 13, valueHandle: 14, endHandle: 14, properties: .read, uuid: long),
          DiscoveredCharacteristic(handle: 15, valueHandle: 16, endHandle: 20, properties: .read, uuid: 0x2A1A),
        ], of: 6)
      known.add([DiscoveredDescriptor(handle: 10, uuid: 0x2902), DiscoveredDescriptor(handle: 11, uuid: long)], of: 9)
      known.add([.reliableWrite], of: 9)
      return known
    }
  }

  @Test func octetsGiveTheSameBack() throws {
    var known = try known
    #expect(KnownAttributes(octets: known.octets)?.octets == known.octets)
    let read = try #require(KnownAttributes(octets: known.octets))
    #expect(read.services == known.services && read.searched == known.searched)
    #expect(read.configuration(of: 9) == 10 && read.descriptors(of: 16) == nil && read.descriptors(of: 14) == [])
    #expect(read.extendedProperties(of: 9) == .reliableWrite && read.extendedProperties(of: 14) == nil)
    #expect(read.service(ifKnown: 30)?.isPrimary == nil)
    #expect(try read.missing(for: .includes(6)) != nil, "of which kind it is, is not known yet")
    known.addedAllPrimaries()
    let complete = try #require(KnownAttributes(octets: known.octets))
    #expect(complete.hasAllPrimaries && complete.service(ifKnown: 30)?.isPrimary == false)
    #expect(try complete.missing(for: .includes(6)) == nil)
    #expect(KnownAttributes(octets: KnownAttributes().octets) == KnownAttributes())
  }

  @Test("Octets that are cut or altered give nothing or something, never a trap")
  func damage() throws {
    let octets = try known.octets
    for count in 0..<octets.count { _ = KnownAttributes(octets: Array(octets[..<count])) }
    for index in octets.indices {
      for value in [0, 1, 2, 0x7F, 0xFF] as [UInt8] {
        var altered = octets
        altered[index] = value
        guard let read = KnownAttributes(octets: altered) else { continue }
        for goal in [DiscoveryGoal.everything, .services([0x1800]), .services([])] { _ = try read.missing(for: goal) }
        for service in read.services { _ = try read.missing(for: .includes(service.range.lowerBound)) }
      }
    }
    #expect(KnownAttributes(octets: []) == nil)
    #expect(KnownAttributes(octets: [2]) == nil, "another version")
    let service: [UInt8] = [0x53, 9, 1, 0, 9, 0, 2, 0x0D, 0x18]
    let characteristic: [UInt8] = [0x43, 0, 2, 0, 3, 0, 3, 0, 2, 2, 0x37, 0x2A]
    #expect(KnownAttributes(octets: [1] + service + characteristic) != nil)
    #expect(KnownAttributes(octets: [1] + service + service) == nil, "two services at one handle")
    #expect(KnownAttributes(octets: [1] + service + characteristic + characteristic) == nil, "two at one handle")
    #expect(KnownAttributes(octets: Array("\u{1}I".utf8)) == nil)
  }

  @Test func whatIsVoidIsAskedForAgain() throws {
    var known = try known
    known.addedAllPrimaries()
    let epoch = known.epoch
    known.forget(8...9)
    #expect(known.epoch == epoch + 1 && !known.hasAllPrimaries)
    #expect(known.services.map(\.range.lowerBound) == [1, 30])
    #expect(throws: BluetoothError.self) { try known.characteristic(at: 9) }
    #expect(try known.characteristic(at: 16).uuid == 0x2A1A)
    known = try self.known
    known.forget(35...35)
    #expect(known.services.map(\.range.lowerBound) == [1], "what includes a service that is void is void")
  }

  @Test("Services that change while they are discovered do not keep a discovery going for ever")
  func restlessDevice() throws {
    var known = KnownAttributes()
    var machine = DiscoveryMachine(.everything)
    #expect(throws: BluetoothError.self) {
      while try machine.next(known, isVerified: true, hasCache: false) != nil {
        known.forget(1...0xFFFF)
        try machine.receive(.services([]), &known)
      }
    }
  }

  @Test("Services that include each other, with ranges that do not agree, come to an end")
  func includesInACircle() throws {
    var known = KnownAttributes()
    var machine = DiscoveryMachine(.everything)
    var steps = 0
    while let procedure = try machine.next(known, isVerified: true, hasCache: false) {
      steps += 1
      try #require(steps < 100)
      switch procedure {
      case .discoverServices:
        known.add(1...9, 0x1801, isPrimary: true)
        try machine.receive(.services([]), &known)
      case .findIncludedServices(let range):
        let other: ClosedRange<UInt16> = range.lowerBound == 1 ? 5...20 : 1...UInt16(10 + steps)
        try machine.receive(.includedServices([DiscoveredInclude(handle: 2, range: other, uuid: 0x1802)]), &known)
      case .discoverCharacteristics: try machine.receive(.characteristics([]), &known)
      default: Issue.record("nothing else is to be asked")
      }
    }
    #expect(known.services.map(\.range) == [1...9, 5...20])
  }
}
