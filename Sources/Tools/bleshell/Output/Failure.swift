import Glibc

/// The reason why a command failed, as a human-readable message.
struct Failure: Error {
  let message: String
  let status: Int32
  /// True if the reason may pass by itself, as with a device that is out of range.
  let passes: Bool
  /// True if the given name is unknown, as far as names are known.
  let isUnknownName: Bool

  init(_ message: String, status: Int32 = 1, passes: Bool = false, isUnknownName: Bool = false) {
    self.message = message
    self.status = status
    self.passes = passes
    self.isUnknownName = isUnknownName
  }
}

func exitProcess(_ status: Int32) -> Never { exit(status) }
