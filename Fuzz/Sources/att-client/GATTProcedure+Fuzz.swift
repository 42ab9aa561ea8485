import Bluetooth
import Fuzzing
import GATT

extension GATTProcedure {
  /// Any procedure, with handles that mostly exist.
  static func fuzzed(_ input: inout FuzzInput) -> GATTProcedure {
    func handle() -> UInt16 { UInt16(input.octet()) }
    func range() -> ClosedRange<UInt16> {
      let start = handle()
      let end = handle()
      return end > start ? start...end : start...0xFFFF
    }
    func uuid() -> BluetoothUUID {
      let choice = input.octet()
      return choice < 128 ? BluetoothUUID(0x2A00 + UInt16(choice)) : BluetoothUUID(high: 1, low: 2)
    }
    switch input.octet() & 15 {
    case 0: return .exchangeMTU
    case 1: return .discoverServices(input.octet() & 1 == 0 ? .primary : .secondary, in: range())
    case 2: return .discoverPrimaryServices(value: input.octet() & 1 == 0 ? [0x0D, 0x18] : input.packet())
    case 3: return .findIncludedServices(in: range())
    case 4: return .discoverCharacteristics(in: range())
    case 5: return .discoverDescriptors(in: range())
    case 6: return .read(handle())
    case 7: return .readByUUID(uuid(), in: range())
    case 8: return .readLong(handle(), offset: input.word())
    case 9: return .readMultiple((0..<input.number(below: 20)).map { _ in handle() })
    case 10: return .readMultipleVariable((0..<input.number(below: 20)).map { _ in handle() })
    case 11: return .write(handle(), input.filler())
    case 12:
      return input.octet() & 1 == 0
        ? .writeWithoutResponse(handle(), input.filler())
        : .signedWrite(handle(), input.filler()) { [UInt8](repeating: 1, count: $0.count & 1 == 0 ? 12 : 11) }
    case 13: return .writeLong(handle(), input.filler(), offset: input.word())
    case 14:
      return .reliableWrite(
        (0..<input.number(below: 4)).map { _ in
          AttributeWrite(handle: handle(), offset: UInt16(input.octet()), value: input.filler())
        })
    default: return .subscribe(descriptor: handle(), ClientConfiguration(rawValue: UInt16(input.octet() & 3)))
    }
  }

  /// Checks that a result is one of this procedure, whatever the server said.
  func check(_ result: GATTResult) {
    switch (self, result) {
    case (.exchangeMTU, .mtu(let mtu)): invariant(mtu >= 23 && mtu <= 517, "MTU \(mtu)")
    case (.discoverServices(_, let range), .services(let found)): Self.check(found, in: range)
    case (.discoverPrimaryServices, .services(let found)): Self.check(found, in: 1...0xFFFF)
    case (.findIncludedServices(let range), .includedServices(let found)): Self.check(found.map(\.handle), in: range)
    case (.discoverCharacteristics(let range), .characteristics(let found)):
      Self.check(found.flatMap { [$0.handle, $0.valueHandle] }, in: range)
      invariant(found.allSatisfy { $0.valueHandle <= $0.endHandle }, "a characteristic that ends before its value")
    case (.discoverDescriptors(let range), .descriptors(let found)): Self.check(found.map(\.handle), in: range)
    case (.readByUUID(_, let range), .values(let found)): Self.check(found.map(\.handle), in: range)
    case (.readLong, .value(let value)), (.readLong, .cutValue(let value)):
      invariant(value.count <= 512, "\(value.count) octets")
    case (.readMultipleVariable(let handles), .values(let found)):
      invariant(handles.starts(with: found.map(\.handle)), "values that nobody asked for")
    case (.read, .value), (.readMultiple, .value): break
    case (.write, .done), (.writeWithoutResponse, .done), (.signedWrite, .done), (.writeLong, .done),
      (.reliableWrite, .done), (.subscribe, .done):
      break
    default: invariant(false, "\(self) gave \(result)")
    }
  }

  /// Handles must ascend within what was searched.
  private static func check(_ handles: [UInt16], in range: ClosedRange<UInt16>) {
    invariant(handles.allSatisfy(range.contains), "handles beyond \(range)")
    invariant(zip(handles, handles.dropFirst()).allSatisfy { $0 < $1 }, "handles that do not ascend")
  }

  /// A service may end behind what was searched, but not begin there.
  private static func check(_ services: [DiscoveredService], in range: ClosedRange<UInt16>) {
    check(services.map(\.range.lowerBound), in: range)
    invariant(
      zip(services, services.dropFirst()).allSatisfy { $0.range.upperBound < $1.range.lowerBound },
      "services that overlap")
  }
}
