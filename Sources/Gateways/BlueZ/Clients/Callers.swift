/// The user and the process of a program, as the bus knows them.
package struct Credentials {
  package var user: UInt32
  var groups: [UInt32]
  var process: Int32
}

/// The users of the programs on the bus.
///
/// At a program's first call the bus is asked for its user, and its calls wait in order meanwhile.
package final class Callers {
  private enum Entry {
    case asked([(Credentials?) -> Void])
    case known(Credentials)
  }

  private let bus: any Bus
  private var entries: [String: Entry] = [:]

  init(_ bus: any Bus) { self.bus = bus }

  /// The user of a program; nil while unknown.
  package func user(of name: String) -> UInt32? {
    if case .known(let credentials) = entries[name] { credentials.user } else { nil }
  }

  /// Calls `work` with the program's credentials, at once if they are known; with nil if it has left.
  package func identify(_ name: String, _ work: @escaping (Credentials?) -> Void) {
    switch entries[name] {
    case .known(let credentials): work(credentials)
    case .asked(let waiting):
      entries[name] = .asked(waiting + [work])
    case nil:
      entries[name] = .asked([work])
      bus.call(
        "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", "GetConnectionCredentials",
        [.string(name)], timeout: .seconds(10)
      ) { [weak self] result in self?.identified(name, try? result.get()) }
    }
  }

  private func identified(_ name: String, _ answer: [BusValue]?) {
    guard case .asked(let waiting) = entries[name] else { return }
    let values = answer?.first?.options ?? []
    let user = values.last { $0.key == "UnixUserID" }?.value.integer.flatMap(UInt32.init(exactly:))
    let process = values.last { $0.key == "ProcessID" }?.value.integer.flatMap(Int32.init(exactly:))
    let groups = values.last { $0.key == "UnixGroupIDs" }?.value.integers?.compactMap(UInt32.init(exactly:))
    let credentials = user.map { Credentials(user: $0, groups: groups ?? [], process: process ?? 0) }
    entries[name] = credentials.map(Entry.known)
    for work in waiting { work(credentials) }
  }

  /// A program has left the bus.
  func left(_ name: String) {
    guard case .asked(let waiting) = entries.removeValue(forKey: name) else { return }
    for work in waiting { work(nil) }
  }
}
