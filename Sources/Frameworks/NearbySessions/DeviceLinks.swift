import BledClient

/// The connections to devices, which sessions of both directions and looks at descriptions share.
///
/// Two devices have one link, whichever of them requested it. So a channel opened by the other side counts as a user,
/// too: the end of this side's last session or reading must not take the link away from it.
struct DeviceLinks {
  private struct Entry {
    /// The sessions, handshakes and readings that use it, or wait for it.
    var users = 0
    /// The connection, if this side requested one and has not released it.
    var connection: Peripheral?
    /// True while it is being requested or released, one at a time.
    var isChanging = false
  }

  private var entries: [String: Entry] = [:]

  var isEmpty: Bool { entries.isEmpty }

  func isChanging(_ device: String) -> Bool { entries[device]?.isChanging == true }

  mutating func join(_ device: String) { entries[device, default: Entry()].users += 1 }

  /// - Returns: true if this was the last user.
  mutating func leave(_ device: String) -> Bool {
    entries[device]?.users -= 1
    return entries[device]?.users == 0
  }

  mutating func beginChange(_ device: String) { entries[device, default: Entry()].isChanging = true }

  mutating func endChange(_ device: String) {
    guard let entry = entries[device] else { return }
    entries[device]?.isChanging = false
    if entry.users == 0, entry.connection == nil { entries[device] = nil }
  }

  mutating func connected(_ device: String, _ connection: Peripheral) { entries[device]?.connection = connection }

  /// Removes a connection without users, which is to be released.
  mutating func removeUnused(_ device: String) -> Peripheral? {
    guard let entry = entries[device], entry.users == 0 else { return nil }
    entries[device]?.connection = nil
    return entry.connection
  }
}
