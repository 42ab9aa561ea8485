/// Comma-separated values (RFC 4180).
enum CSV {
  /// A line of fields. Those with commas, quotation marks or ends of lines are quoted; control characters are replaced.
  static func line(_ fields: [String]) -> String {
    fields.map { field in
      let text = Output.clean(field)
      guard text.contains(where: { ",\"".contains($0) }) else { return text }
      return "\"" + text.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\"") + "\""
    }.joined(separator: ",")
  }
}
