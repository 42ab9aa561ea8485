/// A device that connected to this one and uses its services.
open class CBCentral: CBPeer {
  private let length = Guarded(20)

  /// How many octets of a value fit into one notification: MTU − 3.
  open var maximumUpdateValueLength: Int { length[\.self] }

  func setMaximumUpdateValueLength(_ octets: Int) { length[\.self] = octets }
}
