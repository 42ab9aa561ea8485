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
