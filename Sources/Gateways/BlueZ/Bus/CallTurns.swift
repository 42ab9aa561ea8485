/// The calls waiting to be handled. The users take turns, and so do the programs of each: a user whose programs call
/// without end delays another user's by one call.
package struct CallTurns {
  private struct Line {
    /// Nil while unknown.
    var user: UInt32?
    var calls: [(call: BusCall, size: Int)] = []
    /// The number of its first calls that were handled.
    var taken = 0
    var size = 0

    var count: Int { calls.count - taken }
  }

  private struct Total {
    var count = 0
    var size = 0

    mutating func add(_ count: Int, _ size: Int) {
      self.count += count
      self.size += size
    }

    func hasRoom(_ count: Int, _ size: Int) -> Bool {
      count <= maximumOfUser - self.count && size <= maximumOctetsOfUser - self.size
    }
  }

  private struct User {
    /// Its programs with waiting calls: first the one whose turn it is.
    var programs: [String] = []
    var total = Total()
  }

  /// Maximum waiting calls of one program, and their size in octets.
  package static let (maximum, maximumOctets) = (128, 256 << 10)
  /// The maximums for all programs of one user, and for all programs of unknown users.
  package static let (maximumOfUser, maximumOctetsOfUser) = (16 * maximum, 16 * maximumOctets)

  private var lines: [String: Line] = [:]
  private var users: [UInt32: User] = [:]
  /// The calls of programs with unknown users.
  private var unidentified = Total()
  /// The users with waiting calls: first the one whose turn it is.
  private var order: [UInt32] = []

  package init() {}

  package var isEmpty: Bool { order.isEmpty }

  /// Adds a call behind the others of its program.
  /// - Parameters:
  ///   - size: its size in memory, in octets.
  ///   - user: the program's user; with nil the call waits until `identified`.
  /// - Returns: false if it has no room.
  package mutating func add(_ call: BusCall, size: Int, of user: UInt32?) -> Bool {
    let program = call.sender
    var line = lines[program] ?? Line(user: user)
    guard line.count < Self.maximum, size <= Self.maximumOctets - line.size, hasRoom(1, size, of: line.user) else {
      return false
    }
    line.calls.append((call, size))
    line.size += size
    lines[program] = line
    if let user = line.user {
      count(line.count == 1 ? program : nil, of: user, 1, size)
    } else {
      unidentified.add(1, size)
    }
    return true
  }

  private func hasRoom(_ count: Int, _ size: Int, of user: UInt32?) -> Bool {
    guard let user else { return unidentified.hasRoom(count, size) }
    return (users[user]?.total ?? Total()).hasRoom(count, size)
  }

  /// Counts added calls of a user.
  /// - Parameter program: the program, if these are its first calls.
  private mutating func count(_ program: String?, of user: UInt32, _ count: Int, _ size: Int) {
    if users[user] == nil { order.append(user) }
    if let program { users[user, default: User()].programs.append(program) }
    users[user]?.total.add(count, size)
  }

  /// The user of a program has become known.
  /// - Returns: the last calls of the program that exceed its user's room: they no longer wait.
  package mutating func identified(_ program: String, of user: UInt32) -> [BusCall] {
    guard var line = lines.removeValue(forKey: program) else { return [] }
    guard line.user == nil else {
      lines[program] = line
      return []
    }
    unidentified.add(-line.count, -line.size)
    line.user = user
    var rest: [BusCall] = []
    while line.count > 0, !hasRoom(line.count, line.size, of: user) {
      let (call, size) = line.calls.removeLast()
      line.size -= size
      rest.append(call)
    }
    if line.count > 0 {
      lines[program] = line
      count(program, of: user, line.count, line.size)
    }
    return rest.reversed()
  }

  /// Takes the first call of the program whose turn it is.
  /// - Parameter mayGoOn: returns true if a program may have its turn.
  /// - Returns: nil if no call waits, or none may be taken.
  package mutating func next(where mayGoOn: (String) -> Bool = { _ in true }) -> BusCall? {
    for user in order {
      guard let program = users[user]?.programs.first(where: mayGoOn) else { continue }
      return takeCall(of: program, of: user)
    }
    return nil
  }

  private mutating func takeCall(of program: String, of user: UInt32) -> BusCall? {
    guard var line = lines.removeValue(forKey: program), line.count > 0 else { return nil }
    let (call, size) = line.calls[line.taken]
    line.taken += 1
    line.size -= size
    leave(program, of: user, 1, size)
    guard line.count > 0 else { return call }
    if line.taken >= Self.maximum {
      line.calls.removeFirst(line.taken)
      line.taken = 0
    }
    lines[program] = line
    count(program, of: user, 0, 0)
    return call
  }

  /// Removes a program and some of its calls from its user; the user's turn is over without another program.
  private mutating func leave(_ program: String, of user: UInt32, _ count: Int, _ size: Int) {
    guard var entry = users.removeValue(forKey: user) else { return }
    order.removeAll { $0 == user }
    entry.programs.removeAll { $0 == program }
    entry.total.add(-count, -size)
    guard entry.total.count > 0 else { return }
    users[user] = entry
    order.append(user)
  }

  /// Removes the calls of a program: it has left the bus, or its user cannot be determined.
  /// - Returns: the calls.
  @discardableResult
  package mutating func remove(_ program: String) -> [BusCall] {
    guard let line = lines.removeValue(forKey: program) else { return [] }
    if let user = line.user {
      leave(program, of: user, line.count, line.size)
    } else {
      unidentified.add(-line.count, -line.size)
    }
    return line.calls[line.taken...].map(\.call)
  }
}
