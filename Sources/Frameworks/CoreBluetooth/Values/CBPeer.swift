import FrameworkSupport

/// A remote device.
open class CBPeer: NSObject, NSCopying {
  private let id: UUID

  init(identifier: UUID) {
    id = identifier
  }

  /// The stable identifier that this host has for the device.
  open var identifier: UUID { id }

  /// There is one object for each device and manager: itself.
  open func copy(with zone: NSZone? = nil) -> Any { self }
}

/// A device that connected to this one and uses its services.
open class CBCentral: CBPeer {
  private let length = Guarded(20)

  /// How many octets of a value fit into one notification: MTU − 3, and at most 512.
  open var maximumUpdateValueLength: Int { length[\.self] }

  /// Programs cut their values to it: nothing out of its range reaches them.
  func setMaximumUpdateValueLength(_ octets: Int) { length[\.self] = min(max(octets, 20), 512) }
}
