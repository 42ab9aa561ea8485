import Adapter
import HCI

/// The encryption keys of one controller's links, read from the kernel's commands.
///
/// | A link                                  | Is it encrypted otherwise than by its bond?     |
/// |-----------------------------------------|-------------------------------------------------|
/// | a key was read                          | if it is not the bond's                         |
/// | no key was read                         | no: it is not encrypted, or with the bond's key |
/// | no key was read, and events were lost   | if it is encrypted: any key may have been used |
struct HeardKeys {
  /// More links than any controller has.
  private static let maximum = 64

  /// The last key given to the controller.
  private var keys: [ConnectionHandle: [UInt8]] = [:]
  /// The links up when events were lost, and links with a missed beginning.
  private var doubtful: Set<ConnectionHandle> = []

  /// The controller has a link of this handle.
  /// - Parameter isHeard: true if its beginning was received: otherwise its key may have been given before.
  mutating func linkIsUp(_ handle: ConnectionHandle, isHeard: Bool) {
    guard isHeard else { return doubt(handle) }
    keys[handle] = nil
    doubtful.remove(handle)
  }

  /// The controller no longer has the link: the next one may reuse its handle.
  mutating func linkEnded(_ handle: ConnectionHandle) {
    keys[handle] = nil
    doubtful.remove(handle)
  }

  /// The controller was given a key.
  mutating func observed(_ key: [UInt8], on handle: ConnectionHandle) {
    if keys.count >= Self.maximum { keys = [:] }
    keys[handle] = key
  }

  /// Events were lost, perhaps keys of these links.
  mutating func eventsLost(_ links: [ConnectionHandle]) { for handle in links { doubt(handle) } }

  private mutating func doubt(_ handle: ConnectionHandle) {
    if doubtful.count < Self.maximum { doubtful.insert(handle) }
  }

  /// True if a link's key may have been given unnoticed.
  func isDoubtful(_ handle: ConnectionHandle) -> Bool { keys[handle] == nil && doubtful.contains(handle) }

  /// True if a link is encrypted with a key that differs from its bond's.
  func isOther(than bond: Bond, on handle: ConnectionHandle, isEncrypted: Bool) -> Bool {
    guard let key = keys[handle] else { return isDoubtful(handle) && isEncrypted }
    return !bond.longTermKeys.contains { $0.value.prefix($0.size).elementsEqual(key.prefix($0.size)) }
  }
}
