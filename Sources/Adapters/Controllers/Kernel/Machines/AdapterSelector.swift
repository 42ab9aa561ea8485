import Bluetooth

/// Selects a controller of the machine: a stable choice, by number or by address.
package enum AdapterSelector: Hashable, Sendable {
  /// The kernel's number: 0 for hci0.
  case index(UInt16)
  /// The controller's own address.
  case address(DeviceAddress)

  /// Parses "hci0" or an address such as "F0:F1:F2:F3:F4:F5".
  /// - Returns: nil for any other text.
  package init?(_ text: some StringProtocol) {
    if text.hasPrefix("hci"), let index = UInt16(text.dropFirst(3)), index != 0xFFFF {
      self = .index(index)
    } else if let address = DeviceAddress(text, kind: .public) {
      self = .address(address)
    } else {
      return nil
    }
  }
}

extension AdapterSelector: CustomStringConvertible {
  /// The text that `init` parses.
  package var description: String {
    switch self {
    case .index(let index): "hci\(index)"
    case .address(let address): "\(address)"
    }
  }
}
