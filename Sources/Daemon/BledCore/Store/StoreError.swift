import Glibc

/// The reason why the daemon's state directory cannot be used, and the remedy.
public enum StoreError: Error, Hashable, CustomStringConvertible {
  /// Another daemon uses it.
  case inUse(path: String)
  /// Other users could change its contents.
  case unsafe(path: String, reason: String)
  /// A document's path is not a regular file.
  case notAFile(path: String)
  /// A file is larger than any written by the daemon.
  case tooLarge(path: String)
  /// The system refused.
  case refused(path: String, call: String, code: CInt, reason: String)

  /// The fault and the remedy, in one line.
  public var description: String {
    switch self {
    case .inUse(let path): "another bled uses \(path): choose another directory with --state-directory"
    case .unsafe(let path, let reason):
      "\(path): \(reason): give bled a directory of its own (chmod 700), or choose another one with --state-directory"
    case .notAFile(let path): "\(path) is not a regular file"
    case .tooLarge(let path): "\(path) is larger than any file that bled writes"
    case .refused(let path, let call, let code, let reason):
      "\(path): \(call): \(reason); \(Self.remedy(code)), or choose another directory with --state-directory"
    }
  }

  private static func remedy(_ code: CInt) -> String {
    switch code {
    case EACCES, EPERM: "give bled write access to that directory"
    case ENOSPC, EDQUOT: "free some space on its file system"
    case EROFS: "mount its file system read-write"
    default: "mend that"
    }
  }

  /// The error for an unusable directory.
  init(_ problem: TrustedDirectory.Problem, path: String) {
    switch problem {
    case .unsafe(let reason): self = .unsafe(path: path, reason: reason)
    case .refused(let call, let code):
      self = .refused(path: path, call: call, code: code, reason: String(cString: strerror(code)))
    }
  }

  /// The error from the last failed call.
  static func last(_ call: String, _ path: String) -> StoreError {
    let code = errno
    return .refused(path: path, call: call, code: code, reason: String(cString: strerror(code)))
  }
}
