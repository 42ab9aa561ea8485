import BledConnection
import BledRPC
import Bluetooth
import Foundation
import Testing

/// The calls of one connection to bled.
struct ConnectionMachineTests {
  var machine = ConnectionMachine<String>()

  static func success(_ id: Int) throws -> Data { try RPCEncoding.success(id: .number(id), Empty()).dropLast() }

  /// The completion that a line's answer belongs to.
  static func completion(_ message: ConnectionMachine<String>.Message) -> String? {
    if case .answer(let completion, _) = message { completion } else { nil }
  }

  /// Begins calls while the connection is open.
  mutating func begin(_ calls: [Int], late: String? = nil) {
    for id in calls {
      let isOpen = machine.begin(id, "\(id)", late: late)
      #expect(isOpen)
    }
  }

  /// The completion of the call that an answer ends.
  mutating func answered(_ id: Int) throws -> String? { Self.completion(try machine.receive(Self.success(id))) }

  @Test mutating func aCallIsAnsweredOnce() throws {
    begin([1, 2])
    let answers = [try answered(2), try answered(2), try answered(1), try answered(3)]
    #expect(answers == ["2", nil, "1", nil])
  }

  @Test mutating func theLateAnswerOfAnAbandonedCall() throws {
    begin([1], late: "late")
    begin([2])
    let abandoned = [machine.abandon(1), machine.abandon(1), machine.abandon(2)]
    #expect(abandoned == ["1", nil, "2"])
    let answers = [try answered(1), try answered(2)]
    #expect(answers == ["late", nil])
  }

  /// An abandoned call has been completed: the end does not complete it again.
  @Test mutating func theEndFailsPendingCallsInTheirOrder() throws {
    begin([3, 1, 2, 4], late: "late")
    let abandoned = machine.abandon(2)
    #expect(abandoned == "2")
    let ended = machine.end(nil)
    #expect(ended?.calls == ["1", "3", "4"])
    #expect(ended?.reason == nil)
    let isEndedAgain = machine.end(nil) != nil
    #expect(!isEndedAgain)
    let isBegun = machine.begin(5, "5")
    #expect(!isBegun)
    #expect(machine.endError.code == BledError.daemonUnreachable.rawValue)
  }

  /// bled says why it ends a connection in an error without an id; another line after it makes it meaningless.
  @Test(arguments: [true, false]) mutating func theReasonOfTheEnd(_ isLast: Bool) throws {
    let refusal = RPCError(BledError.notPermitted.error("not for you"))
    _ = try machine.receive(RPCEncoding.failure(id: nil, refusal).dropLast())
    if !isLast { _ = try machine.receive(Self.success(1)) }
    let ended = machine.end(BledError.shuttingDown.error("ends"))
    #expect(ended?.reason?.code == (isLast ? BledError.notPermitted : .shuttingDown).rawValue)
  }

  @Test mutating func aLineThatIsNoMessage() {
    for line in ["", "{", "[]", "7", "{\"jsonrpc\":\"2.0\"}"] {
      let result = Result { () throws(BluetoothError) in try machine.receive(Data(line.utf8)) }
      #expect(throws: BluetoothError.self, "\(line)") { try result.get() }
    }
  }

  @Test func linesThatArriveInParts() throws {
    var lines = ReceivedLines()
    var found: [String] = []
    for part in ["on", "e\ntwo\nth", "ree\n"] {
      lines.append(part.utf8, with: nil)
      while let (line, _) = try lines.next() { found.append(String(decoding: line, as: UTF8.self)) }
    }
    #expect(found == ["one", "two", "three"])
  }

  @Test func aLineThatIsTooLong() {
    var lines = ReceivedLines()
    lines.append([UInt8](repeating: 0x20, count: LineFramer.defaultLimit + 1), with: nil)
    let result = Result { () throws(LineFramer.TooLong) in try lines.next() }
    #expect(throws: LineFramer.TooLong.self) { try result.get() }
  }

  /// A descriptor belongs to the line with its octets, even if the rest arrives later.
  @Test func theLineOfADescriptor() throws {
    var lines = ReceivedLines()
    let descriptor = ReceivedDescriptor(-1)
    _ = descriptor.take()
    lines.append("one\ntw".utf8, with: descriptor)
    let first = [try lines.next(), try lines.next()]
    #expect(first.map { $0?.line.count } == [3, nil])
    #expect(first[0]?.descriptor == nil)
    lines.append("o\nthree\n".utf8, with: nil)
    let rest = [try lines.next(), try lines.next()]
    #expect(rest[0]?.descriptor === descriptor)
    #expect(rest.map { $0?.line.count } == [3, 5])
    #expect(rest[1]?.descriptor == nil)
  }
}
