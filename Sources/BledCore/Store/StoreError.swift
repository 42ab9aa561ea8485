import Glibc

/// Why the daemon's state directory cannot be used, and what to do.
public enum StoreError: Error, Hashable, CustomStringConvertible {
  /// Another daemon uses it.
  case inUse(path: String)
  /// A file is larger than any that the daemon writes.
  case tooLarge(path: String)
  /// The system refused.
  case refused(path: String, call: String, code: CInt, reason: String)

  /// What is wrong and what to do, in one line.
  public var description: String {
    switch self {
    case .inUse(let path): "another bled uses \(path): choose another one with --state-directory"
    case .tooLarge(let path): "\(path) is larger than any file of bled's"
    case .refused(let path, let call, _, let reason):
      "\(path): \(call): \(reason); give bled rights on that directory, or choose another one with --state-directory"
    }
  }

  /// Whether it is about a file, which another one may replace.
  var isOfContent: Bool { if case .tooLarge = self { true } else { false } }

  /// The error of the call that just failed.
  static func last(_ call: String, _ path: String) -> StoreError {
    let code = errno
    return .refused(path: path, call: call, code: code, reason: String(cString: strerror(code)))
  }
}
