import FrameworkSupport

/// A program's errors that cannot be reported otherwise.
enum Misuse {
  private static let program = ProgramLog("CoreBluetooth")

  /// A call that has no effect now; written to standard error, as Apple's framework writes it to the log.
  static func log(_ message: String) { program.misuse(message) }

  /// Logs a failure that is not the program's fault, without a delegate method.
  static func logFailure(_ message: String) { program.failure(message) }

  /// An error that raises an Objective-C exception in Apple's framework: the program ends.
  static func raise(_ message: String) -> Never { ProgramLog.raise(message) }
}
