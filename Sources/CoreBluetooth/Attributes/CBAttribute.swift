/// What services, characteristics and descriptors have in common.
open class CBAttribute: NSObject {
  private let type: CBUUID

  init(type: CBUUID) {
    self.type = type
  }

  /// What it is.
  open var uuid: CBUUID { type }
}
