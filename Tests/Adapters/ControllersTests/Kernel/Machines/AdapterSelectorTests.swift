import Bluetooth
import Testing

@testable import Controllers

@Suite("Selectors of adapters, and their spare addresses")
struct AdapterSelectorTests {
  @Test func selectors() {
    #expect(AdapterSelector("hci0") == .index(0))
    #expect(AdapterSelector("hci12")?.description == "hci12")
    let address = DeviceAddress(value: 0xF0F1_F2F3_F4F5, kind: .public)
    #expect(AdapterSelector("f0:f1:f2:f3:f4:f5") == .address(address))
    #expect(AdapterSelector("F0:F1:F2:F3:F4:F5")?.description == "F0:F1:F2:F3:F4:F5")
    for text in ["", "hci", "hci-1", "hci65535", "hci70000", "usb0", "F0:F1:F2:F3:F4"] {
      #expect(AdapterSelector(text) == nil, "\(text)")
    }
  }
}
