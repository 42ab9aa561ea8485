import Glibc

/// The state of a service in one line of a file in its runtime directory, which every user may read. `bleshell doctor`
/// shows it.
package final class ServiceReport {
  /// The operation of the service.
  package enum State: String, Sendable {
    case ok
    /// Something does not work.
    case problem
  }

  /// The longest text, in octets.
  private static let longest = 400

  private let path: String?
  private var last: (state: State, since: Int, text: String)?

  /// - Parameter directory: the runtime directory; nil for no file.
  package init(directory: String?) { path = directory.map { "\($0)/report" } }

  /// The one in the directory that systemd has made for the service.
  package convenience init() { self.init(directory: ServiceEnvironment.runtimeDirectory) }

  /// Replaces the line; its time is when the state was entered.
  package func say(_ state: State, _ text: String) {
    guard let path, last?.state != state || last?.text != text else { return }
    let since = last.flatMap { $0.state == state ? $0.since : nil } ?? time(nil)
    last = (state, since, text)
    let octets = text.utf8.prefix(Self.longest).map { $0 < 0x20 || $0 == 0x7F ? 0x20 : $0 }
    Self.replace(path, with: Array("\(state.rawValue) \(since) ".utf8) + octets + [10])
  }

  /// A file that cannot be written is as good as none.
  private static func replace(_ path: String, with octets: [UInt8]) {
    let new = path + ".new"
    let descriptor = open(new, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0o644)
    guard descriptor >= 0 else { return }
    // The umask of a service is for its secrets.
    let isWritten = fchmod(descriptor, 0o644) == 0 && write(descriptor, octets, octets.count) == octets.count
    close(descriptor)
    if !isWritten || rename(new, path) != 0 { unlink(new) }
  }
}
