import Foundation

/// Messages about a program's use of a framework, on standard error instead of the log used by Apple's frameworks.
package struct ProgramLog: Sendable {
  private let framework: String

  /// - Parameter framework: its name, at the beginning of each line.
  package init(_ framework: String) { self.framework = framework }

  /// A call that has no effect now.
  package func misuse(_ message: String) { failure("API MISUSE: \(message)") }

  /// A failure that is not the program's fault, without a delegate method.
  package func failure(_ message: String) { FileHandle.standardError.write(Data("[\(framework)] \(message)\n".utf8)) }

  /// An error that raises an Objective-C exception in Apple's framework: the program ends.
  package static func raise(_ message: String) -> Never {
    fatalError("*** Terminating due to uncaught exception 'NSInvalidArgumentException', reason: '\(message)'")
  }
}
