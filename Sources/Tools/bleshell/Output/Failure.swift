import Glibc

/// Why a command failed, as a human-readable message.
struct Failure: Error {
  let message: String
  let status: Int32
  /// Whether the reason may go by itself, as where a device is out of range.
  let passes: Bool
  /// Whether nothing has the name that was given, as far as names are known.
  let isUnknownName: Bool

  init(_ message: String, status: Int32 = 1, passes: Bool = false, isUnknownName: Bool = false) {
    self.message = message
    self.status = status
    self.passes = passes
    self.isUnknownName = isUnknownName
  }
}

func exitProcess(_ status: Int32) -> Never { exit(status) }
