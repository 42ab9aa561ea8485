/// The location of a host adapter's controller.
package enum ControllerAddress: Hashable, Sendable {
  /// A controller that speaks H4 over a transport.
  case h4(TransportAddress)
  /// A controller of this machine that the kernel leaves to this program: its number, 0 for hci0.
  case user(UInt16)
  /// A controller of this process, by the name of its adapter.
  case virtual(String)

  /// Parses "h4:TRANSPORT" or "user:hci1"; nil for a text that begins with neither.
  /// - Throws: `TransportAddress.Fault`, which says how to write it.
  package init?(_ text: String) throws(TransportAddress.Fault) {
    if text.hasPrefix("h4:") {
      self = .h4(try TransportAddress(String(text.dropFirst(3))))
    } else if text.hasPrefix("user:") {
      let name = text.dropFirst(5)
      guard name.hasPrefix("hci"), let number = UInt16(name.dropFirst(3)), number != .max, name == "hci\(number)" else {
        throw TransportAddress.Fault(description: "give the kernel's name of the controller, such as user:hci1")
      }
      self = .user(number)
    } else {
      return nil
    }
  }
}

extension ControllerAddress: CustomStringConvertible {
  /// The given text: the name of the adapter.
  package var description: String {
    switch self {
    case .h4(let address): "h4:\(address)"
    case .user(let number): "user:hci\(number)"
    case .virtual(let name): name
    }
  }
}
