import FrameworkSupport

/// A remote device.
open class CBPeer: NSObject, NSCopying {
  private let id: UUID

  init(identifier: UUID) {
    id = identifier
  }

  /// This host's stable identifier for the device.
  open var identifier: UUID { id }

  /// There is one object for each device and manager: itself.
  open func copy(with zone: NSZone? = nil) -> Any { self }
}

/// A device connected to this one and using its services.
open class CBCentral: CBPeer {
  private let length = Guarded(20)

  /// Maximum octets of a value in one notification: MTU − 3, and at most 512.
  open var maximumUpdateValueLength: Int { length[\.self] }

  /// Programs split their values by it: only values in its range reach them.
  func setMaximumUpdateValueLength(_ octets: Int) { length[\.self] = min(max(octets, 20), 512) }
}
