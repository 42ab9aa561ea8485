import CoreBluetooth
import Testing

struct MutableServiceTests {
  @Test func tree() {
    let service = CBMutableService(type: CBUUID(string: "180D"), primary: true)
    #expect(service.uuid == CBUUID(string: "180D"))
    #expect(service.isPrimary)
    #expect(service.peripheral == nil)
    #expect(service.characteristics == nil)
    let characteristic = CBMutableCharacteristic(
      type: CBUUID(string: "2A37"), properties: [.read, .notify], value: Data([1]), permissions: .readable)
    let text = CBMutableDescriptor(type: CBUUID(string: "2901"), value: "Rate")
    characteristic.descriptors = [text, CBMutableDescriptor(type: CBUUID(string: "2904"), value: Data(count: 7))]
    service.characteristics = [characteristic]
    #expect(characteristic.service === service)
    #expect(text.characteristic === characteristic)
    #expect(text.value as? String == "Rate")
    #expect(characteristic.value == Data([1]))
    #expect(!characteristic.isNotifying)
    characteristic.properties = .read
    characteristic.permissions = [.readEncryptionRequired]
    characteristic.value = nil
    #expect(characteristic.properties == .read)
    #expect(characteristic.permissions == .readEncryptionRequired)
    #expect(characteristic.value == nil)
    // Through the base class too.
    let base: CBService = service
    #expect(base.characteristics?.count == 1)
    #expect(base == service)
    #expect(Set([base]).contains(service))
  }

  @Test func backReferencesAreWeak() {
    let characteristic = CBMutableCharacteristic(
      type: CBUUID(string: "2A37"), properties: .read, value: nil, permissions: .readable)
    do {
      let service = CBMutableService(type: CBUUID(string: "180D"), primary: false)
      service.characteristics = [characteristic]
      #expect(characteristic.service != nil)
    }
    #expect(characteristic.service == nil)
  }

  @Test func systemsDescriptorsEndTheProgram() async {
    await #expect(processExitsWith: .failure) {
      _ = CBMutableDescriptor(type: CBUUID(string: "2902"), value: Data([1, 0]))
    }
  }
}
