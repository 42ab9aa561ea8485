import Glibc

/// The descriptor on which the program that started the daemon waits until clients can connect.
struct ReadyDescriptor {
  /// An unusable descriptor.
  struct Problem: Error, CustomStringConvertible {
    let description: String
  }

  /// The lowest number; lower ones are the standard streams, which stay open.
  private static let first: CInt = 3

  private let number: CInt

  /// Checks a number from the command line, before anything else is opened.
  /// - Throws: the fault and the remedy.
  init(_ number: CInt) throws(Problem) {
    guard number >= Self.first else {
      throw Problem(description: "\(number) is a standard stream: give a descriptor from \(Self.first), as in 3>ready")
    }
    let flags = fcntl(number, F_GETFL)
    guard flags >= 0 else {
      throw Problem(
        description: """
          descriptor \(number) is not open: open it where you start bled, as in bled --ready-fd \(number) \(number)>ready; \
          in Python, pass_fds=[\(number)]
          """)
    }
    guard flags & O_ACCMODE != O_RDONLY else {
      throw Problem(description: "descriptor \(number) is open for reading only: give the end of the pipe for writing")
    }
    self.number = number
    _ = fcntl(number, F_SETFD, FD_CLOEXEC)
  }

  /// Writes the one line and closes the descriptor. The reader may have closed its end, and a full pipe gets only its
  /// end: clients do not wait for that reader.
  func notify() {
    let line = "READY=1\n"
    var room = pollfd(fd: number, events: Int16(POLLOUT), revents: 0)
    // A pipe with room has it for 4096 octets (pipe(7)).
    if poll(&room, 1, 0) == 1 { _ = write(number, line, line.utf8.count) }
    close(number)
  }
}
