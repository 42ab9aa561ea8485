import Bluetooth
import CBlueZ

/// The controllers of this machine.
package enum Controllers {
  /// The kernel's numbers of the present controllers, in order: 0 for hci0.
  package static func present() -> [UInt16] {
    // Connections have entries too, such as hci0:64.
    Folder.names(in: "/sys/class/bluetooth").compactMap { name in
      guard case .index(let number)? = AdapterSelector(name) else { return nil }
      return number
    }.sorted()
  }

  /// The public address of a controller; nil if it is absent, or has none.
  package static func address(of index: UInt16) -> DeviceAddress? {
    var octets = [UInt8](repeating: 0, count: 6)
    guard cbz_hci_address(index, &octets) == 0 else { return nil }
    let value = octets.reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    return value == 0 ? nil : DeviceAddress(value: value, kind: .public)
  }
}
