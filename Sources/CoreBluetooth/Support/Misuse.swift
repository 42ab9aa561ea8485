/// Errors of a program that it cannot be told otherwise.
enum Misuse {
  /// A call that has no effect now; said on standard error, as Apple's framework says it in the log.
  static func log(_ message: String) {
    write("[CoreBluetooth] API MISUSE: \(message)\n")
  }

  /// Logs a failure that is not the program's, and has no delegate method.
  static func logFailure(_ message: String) {
    write("[CoreBluetooth] \(message)\n")
  }

  /// An error that raises an Objective-C exception in Apple's framework: the program ends.
  static func raise(_ message: String) -> Never {
    fatalError("*** Terminating due to uncaught exception 'NSInvalidArgumentException', reason: '\(message)'")
  }

  private static func write(_ text: String) {
    FileHandle.standardError.write(Data(text.utf8))
  }
}
