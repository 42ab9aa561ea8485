import Adapter
import BledRPC
import Bluetooth

extension LinkPHY {
  /// A program's choice.
  init(choice: PHYChoice) {
    switch choice {
    case .le1M: self.init(.le1M)
    case .le2M: self.init(.le2M)
    case .leCoded: self.init(.leCoded)
    case .leCodedS2: self.init(.leCoded, coding: .s2)
    case .leCodedS8: self.init(.leCoded, coding: .s8)
    }
  }
}

extension AdapterSlot {
  /// Checks that the controller supports a PHY, as far as known.
  func check(has phy: PHY) throws(BluetoothError) {
    guard adapter.state == .on, !adapter.information.phys.contains(phy) else { return }
    throw GAPError.notSupported.error("the controller of adapter \(id) does not have the \(phy) PHY")
  }
}
