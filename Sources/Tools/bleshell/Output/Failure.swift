import Glibc

/// Why a command failed, as a human-readable message.
struct Failure: Error {
  let message: String
  let status: Int32
  /// Whether the reason may go by itself, as where a device is out of range.
  let passes: Bool

  init(_ message: String, status: Int32 = 1, passes: Bool = false) {
    self.message = message
    self.status = status
    self.passes = passes
  }
}

func exitProcess(_ status: Int32) -> Never { exit(status) }
