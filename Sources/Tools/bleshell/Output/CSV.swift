/// Comma-separated values (RFC 4180).
enum CSV {
  /// A line of fields. Fields with commas, quotation marks or ends of lines are quoted; control characters are
  /// replaced. Text that a spreadsheet would evaluate, as it begins with =, +, - or @, gets an apostrophe in front
  /// (OWASP, CSV Injection); numbers are left as they are.
  static func line(_ fields: [String]) -> String {
    fields.map { field in
      let text = (isFormula(field) ? "'" : "") + Output.clean(field)
      guard text.contains(where: { ",\"".contains($0) }) else { return text }
      return "\"" + text.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\"") + "\""
    }.joined(separator: ",")
  }

  private static func isFormula(_ field: String) -> Bool {
    guard let first = field.unicodeScalars.first, "=+-@\t\r".unicodeScalars.contains(first) else { return false }
    return Double(field) == nil
  }
}
