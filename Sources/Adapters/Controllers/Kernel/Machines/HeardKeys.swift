import Adapter
import HCI

/// The encryption keys of one controller's links, read from the kernel's commands.
///
/// | A link                                  | Is it encrypted otherwise than by its bond?     |
/// |-----------------------------------------|-------------------------------------------------|
/// | a key was heard                         | if it is not the bond's                         |
/// | no key was heard                        | no: it is not encrypted, or with the bond's key |
/// | no key was heard, and events were lost  | if it is encrypted: any key may have been used |
struct HeardKeys {
  /// More links than any controller has.
  private static let maximum = 64

  /// The key that the controller was given last.
  private var keys: [ConnectionHandle: [UInt8]] = [:]
  /// The links that were there when events were lost, or began unheard.
  private var doubtful: Set<ConnectionHandle> = []

  /// The controller has a link of this handle.
  /// - Parameter isHeard: whether its beginning was heard: otherwise its key may have been given before.
  mutating func linkIsUp(_ handle: ConnectionHandle, isHeard: Bool) {
    guard isHeard else { return doubt(handle) }
    keys[handle] = nil
    doubtful.remove(handle)
  }

  /// The controller has the link no longer: the next link may have its handle.
  mutating func linkEnded(_ handle: ConnectionHandle) {
    keys[handle] = nil
    doubtful.remove(handle)
  }

  /// The controller was given a key.
  mutating func heard(_ key: [UInt8], on handle: ConnectionHandle) {
    if keys.count >= Self.maximum { keys = [:] }
    keys[handle] = key
  }

  /// Events were lost, perhaps keys of these links.
  mutating func eventsLost(_ links: [ConnectionHandle]) { for handle in links { doubt(handle) } }

  private mutating func doubt(_ handle: ConnectionHandle) {
    if doubtful.count < Self.maximum { doubtful.insert(handle) }
  }

  /// Whether the key of a link may have been given unheard.
  func isDoubtful(_ handle: ConnectionHandle) -> Bool { keys[handle] == nil && doubtful.contains(handle) }

  /// Whether a link is encrypted with a key that is not that of the bond with its device.
  func isOther(than bond: Bond, on handle: ConnectionHandle, isEncrypted: Bool) -> Bool {
    guard let key = keys[handle] else { return isDoubtful(handle) && isEncrypted }
    return !bond.longTermKeys.contains { $0.value.prefix($0.size).elementsEqual(key.prefix($0.size)) }
  }
}
