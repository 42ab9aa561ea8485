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
}
