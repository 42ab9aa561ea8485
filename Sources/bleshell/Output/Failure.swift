import Glibc

/// Why a command failed, as a human-readable message.
struct Failure: Error {
  let message: String
  let status: Int32

  init(_ message: String, status: Int32 = 1) {
    self.message = message
    self.status = status
  }
}

func exitProcess(_ status: Int32) -> Never { exit(status) }
