import Glibc

/// A directory that only root and this process's user can change, reached on a path that only they can redirect: so no
/// other user can replace the daemon's files by a FIFO, a link or another file.
///
/// Each directory on the path must belong to root or to this user, and no other user may write to it. Above the
/// directory itself the sticky bit is enough, as in `/tmp`: there no user can replace another user's files. A
/// symbolic link is followed if it belongs to root or to this user, as `/var/run` does.
final class TrustedDirectory {
  /// The reason why a directory cannot be used.
  enum Problem: Error, Hashable {
    /// Other users could change its contents; a clause with the reason.
    case unsafe(String)
    /// The system refused a call.
    case refused(call: String, code: CInt)

    /// The fault, without the remedy.
    var description: String {
      switch self {
      case .unsafe(let reason): reason
      case .refused(let call, let code): "\(call): \(String(cString: strerror(code)))"
      }
    }
  }

  /// A descriptor closed with its last reference.
  private final class Descriptor {
    let number: CInt

    /// - Parameter parent: the directory of the name; nil for a path.
    init(_ parent: Descriptor?, _ name: String, _ flags: CInt) throws(Problem) {
      // Until here the directory stays open.
      number = withExtendedLifetime(parent) { openat(parent?.number ?? AT_FDCWD, name, flags | O_CLOEXEC) }
      guard number >= 0 else { throw .refused(call: "open", code: errno) }
    }

    deinit { close(number) }

    /// Makes a directory in this one.
    /// - Returns: true if it is new.
    func makeDirectory(_ name: String, _ mode: mode_t) -> Bool { mkdirat(number, name, mode) == 0 }

    func status() throws(Problem) -> stat {
      var status = stat()
      guard fstat(number, &status) == 0 else { throw .refused(call: "stat", code: errno) }
      return status
    }

    /// The target of the symbolic link.
    func target() throws(Problem) -> String {
      var octets = [CChar](repeating: 0, count: Int(PATH_MAX))
      let count = readlinkat(number, "", &octets, octets.count)
      guard count >= 0 else { throw .refused(call: "readlink", code: errno) }
      return String(decoding: octets.prefix(count).map { UInt8(truncatingIfNeeded: $0) }, as: UTF8.self)
    }
  }

  /// As many as the kernel follows, path_resolution(7).
  private static let maximumLinks = 40
  /// `O_PATH`, which Glibc declares with its extensions only: to pass through a directory, one need not be
  /// allowed to read it.
  private static let openPath: CInt = 0o10_000_000
  /// The permitted owners. In a user namespace root may have another number, but the outermost directory is root's.
  private static let trusted: Set<uid_t> = {
    var root = stat()
    return [0, geteuid(), stat("/", &root) == 0 ? root.st_uid : 0]
  }()

  private let open: Descriptor
  /// True if `init` made it.
  let isNew: Bool

  /// Opens a directory.
  /// - Parameter mode: the permissions for making the directory if only the last part of its path is missing; nil:
  ///   never made.
  init(_ path: String, creating mode: mode_t? = nil) throws(Problem) {
    var place = path.utf8.first == UInt8(ascii: "/") ? "/" : "."
    var current = try Descriptor(nil, place, Self.openPath)
    var names = Self.names(in: path)
    var links = 0
    var isNew = false
    try Self.check(current.status(), place, isLast: names.isEmpty)
    while let name = names.popLast() {
      if let mode, names.isEmpty, current.makeDirectory(name, mode) { isNew = true }
      let next = try Descriptor(current, name, Self.openPath | O_NOFOLLOW)
      let status = try next.status()
      if status.st_mode & S_IFMT == S_IFLNK {
        links += 1
        guard links <= Self.maximumLinks else { throw .refused(call: "open", code: ELOOP) }
        guard Self.trusted.contains(status.st_uid) else { throw Self.foreign("\(place)/\(name)", status) }
        let target = try next.target()
        names += Self.names(in: target)
        guard target.utf8.first == UInt8(ascii: "/") else { continue }
        place = "/"
        current = try Descriptor(nil, place, Self.openPath)
      } else {
        guard status.st_mode & S_IFMT == S_IFDIR else { throw .refused(call: "open", code: ENOTDIR) }
        place += place == "/" ? name : "/\(name)"
        try Self.check(status, place, isLast: names.isEmpty)
        current = next
      }
    }
    open = try Descriptor(current, ".", O_RDONLY | O_DIRECTORY)
    self.isNew = isNew
  }

  /// Its descriptor, which is open for as long as this object exists.
  var descriptor: CInt { open.number }

  /// A path's parts, last one first.
  private static func names(in path: String) -> [String] {
    path.utf8.split(separator: UInt8(ascii: "/")).reversed().map { String(Substring($0)) }
  }

  private static func check(_ status: stat, _ place: String, isLast: Bool) throws(Problem) {
    guard trusted.contains(status.st_uid) else { throw foreign(place, status) }
    let isOpen = status.st_mode & S_IWOTH != 0 || (status.st_mode & S_IWGRP != 0 && !isPrivate(status))
    guard !isOpen || (!isLast && status.st_mode & S_ISVTX != 0) else {
      throw .unsafe("other users may write to \(place)")
    }
  }

  /// True if a directory's group has only its owner, as on systems with a group per user. (With an access control list
  /// the group's bits are the maximum granted by the list.)
  private static func isPrivate(_ status: stat) -> Bool {
    guard let user = getpwuid(status.st_uid)?.pointee, user.pw_gid == status.st_gid,
      let group = getgrgid(status.st_gid)?.pointee, strcmp(user.pw_name, group.gr_name) == 0
    else { return false }
    var member = group.gr_mem
    while let name = member?.pointee {
      guard strcmp(name, user.pw_name) == 0 else { return false }
      member = member?.advanced(by: 1)
    }
    return true
  }

  private static func foreign(_ place: String, _ status: stat) -> Problem {
    .unsafe("\(place) belongs to another user (\(status.st_uid))")
  }
}
