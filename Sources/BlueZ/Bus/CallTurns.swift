/// The calls that wait to be handled. The programs take turns: one that calls without end delays another by one call.
package struct CallTurns {
  private struct Line {
    var calls: [(call: BusCall, size: Int)] = []
    /// The number of its first calls that are taken.
    var taken = 0
    var size = 0

    var count: Int { calls.count - taken }
  }

  /// The number of calls of one program that may wait, and their size in octets.
  package static let (maximum, maximumOctets) = (128, 256 << 10)

  private var lines: [String: Line] = [:]
  /// The programs whose calls wait: that whose turn it is, and behind it the others.
  private var order: [String] = []

  package init() {}

  package var isEmpty: Bool { order.isEmpty }

  /// Adds a call behind the others of its program.
  /// - Parameter size: how much of memory it takes, in octets.
  /// - Returns: false if it has no room. A first call always has.
  package mutating func add(_ call: BusCall, size: Int) -> Bool {
    var line = lines[call.sender] ?? Line()
    if line.count == 0 {
      order.append(call.sender)
    } else if line.count >= Self.maximum || line.size + size > Self.maximumOctets {
      return false
    }
    line.calls.append((call, size))
    line.size += size
    lines[call.sender] = line
    return true
  }

  /// Takes the first call of the program whose turn it is.
  /// - Parameter mayGoOn: whether a program's turn may come.
  /// - Returns: nil if no call waits, or none may be taken.
  package mutating func next(where mayGoOn: (String) -> Bool = { _ in true }) -> BusCall? {
    guard let place = order.firstIndex(where: mayGoOn) else { return nil }
    let program = order.remove(at: place)
    guard var line = lines.removeValue(forKey: program), line.count > 0 else { return nil }
    let (call, size) = line.calls[line.taken]
    line.taken += 1
    line.size -= size
    guard line.count > 0 else { return call }
    if line.taken >= Self.maximum {
      line.calls.removeFirst(line.taken)
      line.taken = 0
    }
    lines[program] = line
    order.append(program)
    return call
  }

  /// A program has left the bus.
  package mutating func remove(_ program: String) {
    lines[program] = nil
    order.removeAll { $0 == program }
  }
}
