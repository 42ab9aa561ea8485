import BledRPC
import Bluetooth

extension BledClient {
  /// Has functions called for what devices read and write of this client's services, on the connection's thread, in the
  /// order of the wire and with what `observe` gives. Call it before `publish`; `serverEvents` is the same as a stream.
  public func answerCalls(
    read: @escaping @Sendable (ReadRequest) -> Void, write: @escaping @Sendable (WriteRequest) -> Void
  ) {
    core.answer(ServerRead.name) { [weak core] message, id in
      core?.params(of: message, id) { core, params in
        read(ReadRequest(params: params, answer: RequestAnswer(core: core, id: id)))
      }
    }
    core.answer(ServerWrite.name) { [weak core] message, id in
      core?.params(of: message, id) { core, params in
        write(WriteRequest(params: params, answer: RequestAnswer(core: core, id: id)))
      }
    }
  }
}

extension ReadRequest {
  /// Answers with the part of the value that begins at the offset.
  public func respond(fromOffset part: [UInt8]) {
    answer.succeed(ServerRead.Result(value: HexBytes(part)))
  }
}

extension ClientCore {
  fileprivate func params<Params: RPCPayload>(
    of message: RPCMessage, _ id: RequestID, _ hand: (ClientCore, Params) -> Void
  ) {
    do {
      hand(self, try message.params(Params.self))
    } catch {
      refuse(id, error)
    }
  }
}
