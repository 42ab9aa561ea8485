import BledClient
import BledRPC
import Bluetooth
import Testing

@testable import bleshell

/// The device that a text denotes among several.
@Suite struct DeviceCandidateTests {
  private let candidates = [
    DeviceCandidate("7D49A1B2-0000-4000-8000-000000000001", "Lamp", "C0:00:00:00:00:01"),
    DeviceCandidate("7D49FFFF-0000-4000-8000-000000000002", "lamp", "C0:00:00:00:00:02"),
    DeviceCandidate("A0000000-0000-4000-8000-000000000003", "Lamppost", "C0:00:00:00:00:03"),
    DeviceCandidate("B0000000-0000-4000-8000-000000000004", nil, "C0:00:00:00:00:04"),
  ]

  private func address(_ text: String) throws -> String? {
    try DeviceCandidate.choose(text, among: candidates)?.address
  }

  @Test("An identifier, an address, a name and a prefix of these are found, the exact ones first")
  func found() throws {
    #expect(try address("7d49ffff-0000-4000-8000-000000000002") == "C0:00:00:00:00:02")
    #expect(try address("c0:00:00:00:00:04") == "C0:00:00:00:00:04")
    #expect(try address("Lamp") == "C0:00:00:00:00:01" && address("lamp") == "C0:00:00:00:00:02")
    #expect(try address("b000") == "C0:00:00:00:00:04" && address("lamppo") == "C0:00:00:00:00:03")
  }

  @Test("An address is understood in the spellings of other programs")
  func spellings() throws {
    for text in ["C0:00:00:00:00:04", "c0-00-00-00-00-04", "c00000000004"] {
      #expect(try address(text) == "C0:00:00:00:00:04", "\(text)")
    }
    for text in ["C0:00:00-00:00:04", "C0000000000", "C0:00:00:00:0004:", "C00000000g04", "::::::::::::"] {
      #expect(DeviceCandidate.address(text) == nil, "\(text)")
    }
  }

  @Test("Three digits are no identifier, and a text that no device has denotes none")
  func none() throws {
    #expect(try address("B00") == nil && address("Belt") == nil)
    #expect(try DeviceCandidate.choose("Lamp", among: []) == nil)
  }

  @Test("A text that denotes several devices is refused, with their addresses")
  func ambiguous() throws {
    for text in ["LAMP", "7d49", "la"] {
      #expect { try address(text) } throws: {
        let lines = ($0 as? Failure)?.message.split(separator: "\n") ?? []
        return lines.contains { $0.contains("7D49A1B2-0000-4000-8000-000000000001") }
          && lines.dropFirst().sorted() == Array(lines.dropFirst())
      }
    }
  }

  @Test("Of several devices with a name, earlier addresses of one device do not count, but those heard now do")
  func recent() throws {
    var all = [DeviceCandidate("A", "Tag", "4B:00:00:00:00:01"), DeviceCandidate("B", "Tag", "4B:00:00:00:00:02")]
    (all[0].sinceReport, all[1].sinceReport) = (900, 3)
    #expect(try DeviceCandidate.choose("tag", amongRecent: all)?.identifier == "B")
    #expect(try DeviceCandidate.choose("a", amongRecent: all)?.identifier == "A")
    all[0].sinceReport = 1
    #expect { try DeviceCandidate.choose("tag", amongRecent: all) } throws: {
      let message = ($0 as? Failure)?.message
      return message?.hasSuffix("4B:00:00:00:00:01 A, heard 1 s ago\nTag 4B:00:00:00:00:02 B, heard 3 s ago") == true
    }
    (all[0].sinceReport, all[0].isConnected, all[1].sinceReport) = (nil, true, 900)
    #expect(try DeviceCandidate.choose("Tag", amongRecent: all)?.identifier == "A")
    let ages = [0.4, 59.9, 60, 3599, 7200].map(ageText)
    #expect(ages == ["0 s", "59 s", "1 min", "59 min", "2 h"])
  }

  @Test("A text like an address with a fault is no name")
  func mistyped() {
    for text in ["C0:DE:00:00:00:1", "C0:DE:00:00:00:0G", "C0:DE:00:00:00/random", "C0:DE:00:00:00:01:02"] {
      #expect(DeviceCandidate.mistypedAddress(text)?.status == 64, "\(text)")
    }
    for text in ["C0:DE:00:00:00:01", "Lamp", "Lamp: kitchen", "a:b", "01:23:45 clock"] {
      #expect(DeviceCandidate.mistypedAddress(text) == nil, "\(text)")
    }
  }

  @Test("An event is for the device that was named by its address, not for another one")
  func denoted() {
    let known = [("A", DeviceAddress.Kind.random), ("B", .public)].map { identifier, kind in
      PeripheralList.Entry(
        peripheral: identifier, address: "C0:00:00:00:00:01", addressType: .init(kind), adapter: "hci0", name: nil,
        rssi: nil, state: .init(.connecting), mine: false, mtu: nil)
    }
    let reference = DeviceReference.address("C0:00:00:00:00:01", type: .random)
    #expect(reference.denotes("A", among: known) && !reference.denotes("B", among: known))
    #expect(!reference.denotes("C", among: known))
    #expect(DeviceReference.address("C0:00:00:00:00:01").denotes("B", among: known))
    let identifier = DeviceReference.identifier("A")
    #expect(identifier.denotes("A", among: []) && !identifier.denotes("B", among: known))
  }
}
