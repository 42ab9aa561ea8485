/// The programs with waiting calls about a device, by the path of the device. Nothing is stored for a device without
/// any.
struct WaitingPrograms {
  private var programs: [String: Set<String>] = [:]

  var isEmpty: Bool { programs.isEmpty }

  func has(_ path: String) -> Bool { programs[path] != nil }

  func has(_ path: String, _ program: String) -> Bool { programs[path]?.contains(program) == true }

  /// The unique names of the programs.
  subscript(path: String) -> Set<String> { programs[path] ?? [] }

  /// - Returns: false if the program waits already.
  @discardableResult
  mutating func insert(_ program: String, at path: String) -> Bool {
    programs[path, default: []].insert(program).inserted
  }

  mutating func remove(_ program: String, at path: String) {
    programs[path]?.remove(program)
    if programs[path]?.isEmpty == true { programs[path] = nil }
  }

  mutating func removeAll(at path: String) { programs[path] = nil }
}
