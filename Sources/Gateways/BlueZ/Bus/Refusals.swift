/// The refused calls of programs while the bus is asked for their user. The answers wait until the user is known: they
/// count among the user's unread messages.
package struct Refusals {
  package typealias Refusal = (call: BusCall, error: BusError)

  /// Maximum waiting calls of one program; the bus permits as many pending ones.
  package static let maximum = CallTurns.maximum

  private var programs: [String: [Refusal]] = [:]

  package init() {}

  /// Begins to ask the bus for a program's user.
  /// - Returns: false if it already is.
  package mutating func begin(_ program: String) -> Bool {
    guard programs[program] == nil else { return false }
    programs[program] = []
    return true
  }

  /// Keeps a refused call of a program with a pending user request, without the call's arguments.
  /// - Returns: false if it has no room.
  package mutating func add(_ call: BusCall, _ error: BusError) -> Bool {
    guard let count = programs[call.sender]?.count, count < Self.maximum else { return false }
    let bare = BusCall(
      number: call.number, sender: call.sender, path: call.path, interface: call.interface, member: call.member)
    programs[call.sender]?.append((bare, error))
    return true
  }

  /// The bus has answered, or the program has left.
  /// - Returns: the program's refused calls.
  @discardableResult
  package mutating func end(_ program: String) -> [Refusal] { programs.removeValue(forKey: program) ?? [] }
}
