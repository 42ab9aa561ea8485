import BledRPC
import Bluetooth
import FoundationEssentials
import Testing

@testable import BledCore
@testable import openrpc

/// Answers of a session to good and bad lines.
@Suite struct SessionTests {
  private let world = World()

  @Test func openTellsWhoIsThere() throws {
    let client = world.client()
    let result = try client.result(SessionOpen.self, .init(name: "test"))
    #expect(result.session == 1)
    #expect(result.daemon == "bled \(Daemon.version)")
    #expect(result.adapters.map(\.adapter) == ["hci0"])
    #expect(try client.result(AdapterList.self, Empty()).adapters == result.adapters)
    #expect(client.session?.name == "test")
  }

  @Test(arguments: [
    ("{", RPCError.parseError), ("nonsense", RPCError.parseError), ("\u{0}", RPCError.parseError),
    ("42", RPCError.invalidRequest), ("{}", RPCError.invalidRequest), ("[]", RPCError.invalidRequest),
    (" [{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"adapter.list\"}]", RPCError.invalidRequest),
    ("{\"jsonrpc\":\"1.0\",\"id\":1,\"method\":\"adapter.list\"}", RPCError.invalidRequest),
    ("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"adapter.fly\"}", RPCError.methodNotFound),
    (
      "{\"jsonrpc\":\"2.0\",\"id\":\"\(String(repeating: "x", count: 129))\",\"method\":\"adapter.list\"}",
      RPCError.invalidRequest
    ),
    ("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"gatt.read\"}", RPCError.invalidParams),
    ("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"gatt.read\",\"params\":[1]}", RPCError.invalidParams),
    (
      "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"gatt.read\",\"params\":{\"peripheral\":\"x\",\"handle\":70000}}",
      RPCError.invalidParams
    ),
    (
      "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"gatt.write\",\"params\":{\"peripheral\":\"x\",\"handle\":1,\"value\":\"0\"}}",
      RPCError.invalidParams
    ),
    (
      "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"gatt.read\",\"params\":{\"peripheral\":\"x\",\"handle\":1}}",
      RPCError.operationFailed
    ),
  ])
  func badLinesGetErrors(line: String, code: Int) throws {
    let client = world.client()
    let other = world.client()
    client.send(line)
    client.drain()
    #expect(client.messages.count == 1)
    guard case .failure(_, let error) = try #require(client.messages.first).kind else {
      Issue.record("no error for \(line)")
      return
    }
    #expect(error.code == code, "\(error)")
    #expect(!error.message.isEmpty)
    #expect((error.data != nil) == (code == RPCError.operationFailed))
    client.forget()
    _ = try client.result(AdapterList.self, Empty())
    other.drain()
    #expect(other.messages.isEmpty)
  }

  @Test func deeplyNestedJSONIsRefused() throws {
    let client = world.client()
    client.send(String(repeating: "{\"a\":[", count: 100_000))
    #expect(client.errors.map(\.code) == [RPCError.parseError])
  }

  @Test func aCallWithoutAnIDIsDoneAndNotAnswered() throws {
    let client = world.client()
    client.send("{\"jsonrpc\":\"2.0\",\"method\":\"session.open\",\"params\":{\"name\":\"quiet\"}}")
    client.send("{\"jsonrpc\":\"2.0\",\"method\":\"no.such\"}")
    client.drain()
    #expect(client.messages.isEmpty)
    #expect(client.session?.name == "quiet")
  }

  @Test func answersThatNobodyAskedForAreIgnored() throws {
    let client = world.client()
    client.send("{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{}}")
    client.send("{\"jsonrpc\":\"2.0\",\"id\":\"x\",\"error\":{\"code\":1,\"message\":\"no\"}}")
    client.drain()
    #expect(client.messages.isEmpty)
  }

  @Test("rpc.discover answers with the document, and each method that it lists for clients is served")
  func discover() throws {
    #expect(try world.client().result(RPCDiscover.self, Empty()) == OpenRPC.description(DocComments()).document)
    for method in ProtocolContents.clientCalls {
      let client = world.client()
      client.send("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\(method.name)\",\"params\":{}}")
      world.settle()
      client.drain()
      let errors = client.messages.compactMap { if case .failure(_, let error) = $0.kind { error.code } else { nil } }
      #expect(!errors.contains(RPCError.methodNotFound), "\(method.name) is not served")
    }
  }

  @Test func requestsAreNotReadWhileAnswersAreNot() throws {
    let client = world.client()
    client.reads = false
    var calls = 0
    while client.isRead, calls < 100_000 {
      try client.call(AdapterList.self, Empty())
      calls += 1
    }
    #expect(!client.isRead)
    #expect(try #require(client.session).outbox.waiting < Outbox.Limits().reports + 4096)
    client.reads = true
    client.drain()
    #expect(client.isRead)
    #expect(client.messages.count == calls)
  }

  @Test func aSessionThatReadsNothingAtAllIsClosedAtTheLastBound() throws {
    let client = world.client()
    client.reads = false
    for round in 0..<20_000 where !client.isClosed {
      world.adapter.change(to: round % 2 == 0 ? .off : .on)
      world.scheduler.advance(by: .milliseconds(1))
    }
    #expect(client.isClosed)
    #expect(world.daemon.sessions.isEmpty)
    #expect(try #require(client.session).outbox.waiting <= Outbox.Limits().everything)
  }

  @Test func tooManyOpenCallsAreRefused() throws {
    let client = world.client()
    for _ in 0..<SessionConnection.maximumOpenReplies {
      try client.call(PeripheralConnect.self, .init(address: "C0:00:00:00:00:01", addressType: "random"))
    }
    let error = try client.error(PeripheralConnect.self, .init(address: "C0:00:00:00:00:01", addressType: "random"))
    #expect(error?.data?.name == "limitReached")
    client.die()
    #expect(world.adapter.pendingConnections.isEmpty)
  }

  @Test("Rule 6: calls that fail are counted, also those without an id, whose failure nothing else tells")
  func failedCallsAreCounted() throws {
    let client = world.client()
    func failed() throws -> Int? {
      try client.result(SessionList.self, .init()).sessions.first { $0.mine }?.costs.requestsFailed
    }
    #expect(try failed() == 0)
    client.send("{\"jsonrpc\":\"2.0\",\"method\":\"no.such\"}")
    #expect(try failed() == 1)
    let peer = world.peer()
    let id = try world.connect(client, peer).peripheral
    peer.isMute = true
    let read = GATTRead.Params(peripheral: "11111111-1111-4111-8111-111111111111", handle: 1)
    #expect(try client.error(GATTRead.self, read)?.data?.name == "unknownDevice")
    #expect(try failed() == 2)
    let unanswered = #"{"jsonrpc":"2.0","method":"gatt.read","params":{"peripheral":"\#(id)","handle":3}}"#
    for _ in 0..<SessionConnection.maximumOpenReplies + 5 { client.send(unanswered) }
    #expect(try failed() == 7)
    // The calls that waited fail as well.
    client.send(#"{"jsonrpc":"2.0","method":"peripheral.disconnect","params":{"address":"C0:00:00:00:00:01"}}"#)
    #expect(try failed() == 7 + SessionConnection.maximumOpenReplies)
    #expect(try client.notifications(PeripheralConnectFailed.self).isEmpty)
  }

  @Test func stopAnswersEverybodyAndComesToRest() throws {
    let client = world.client()
    let peer = world.peer()
    try world.connect(client, peer)
    let pending = try client.call(PeripheralConnect.self, .init(address: "C0:00:00:00:00:02", addressType: "random"))
    var stopped = 0
    world.daemon.stop { stopped += 1 }
    #expect(client.isClosed)
    #expect(try client.error(of: pending, PeripheralConnect.self)?.data?.name == "shuttingDown")
    world.settle()
    #expect(stopped == 1)
    #expect(world.adapter.isStopped && world.adapter.pendingConnections.isEmpty)
    let late = world.client()
    #expect(late.isClosed)
  }
}
