/// A place in a file, counted from 1.
public struct FilePlace: Hashable, Sendable, CustomStringConvertible {
  /// The line.
  public let line: Int
  /// The character in the line: Unicode scalars, as editors count them; a tab is one.
  public let column: Int

  /// `line:column`, as editors and compilers write it.
  public var description: String { "\(line):\(column)" }
}

/// The reason why a file cannot be used: the file and the place, the fault, and the remedy.
public struct FileError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The file's name.
  public let file: String
  /// The place in its text; nil if it cannot be read at all.
  public let place: FilePlace?
  /// The wrong value, such as `devices[1].services[0].uuid`; empty for the whole file and for syntax errors.
  public let path: String
  /// The fault and its remedy, in a sentence.
  public let message: String
  /// True if the file does not exist.
  public let isMissingFile: Bool

  init(file: String, place: FilePlace?, path: String = "", message: String, isMissingFile: Bool = false) {
    self.file = file
    self.place = place
    self.path = path
    self.message = message
    self.isMissingFile = isMissingFile
  }

  /// An error at the same place with another message.
  public func with(message: String) -> FileError { FileError(file: file, place: place, path: path, message: message) }

  /// `file:line:column: path: message`, on one line.
  public var description: String {
    let start = place.map { "\(file):\($0)" } ?? file
    return [start, path, message].filter { !$0.isEmpty }.joined(separator: ": ")
  }
}

/// A file's text for a message: without control characters, which would act on a terminal, and of limited length.
func shown(_ text: String) -> String {
  let maximum = 80
  var shown = String.UnicodeScalarView()
  for scalar in text.unicodeScalars.prefix(maximum) {
    let isControl = scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value)
    shown.append(isControl ? "\u{FFFD}" : scalar)
  }
  return String(shown) + (text.unicodeScalars.dropFirst(maximum).isEmpty ? "" : "…")
}
