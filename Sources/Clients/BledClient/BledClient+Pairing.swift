import BledRPC
import Bluetooth

/// A program's answers when devices pair; see `BledClient.answerPairings`.
public struct PairingAgent: Sendable {
  /// The input and output capability of this machine's user.
  public var capability: PairingCapability
  /// Returns true to pair; with a number, true if the device shows the same one.
  public var confirm: @Sendable (PairingConfirm.Params) async -> Bool
  /// The passkey that the device shows, up to six digits; nil to refuse.
  public var enterPasskey: @Sendable (PairingEnterPasskey.Params) async -> String?

  /// Makes an agent.
  public init(
    capability: PairingCapability, confirm: @escaping @Sendable (PairingConfirm.Params) async -> Bool,
    enterPasskey: @escaping @Sendable (PairingEnterPasskey.Params) async -> String? = { _ in nil }
  ) {
    self.capability = capability
    self.confirm = confirm
    self.enterPasskey = enterPasskey
  }
}

extension BledClient {
  /// Answers for the devices that pair from now on, until `stopAnsweringPairings` or the end of this client. The daemon
  /// asks the session that pairs first, then the others in the order in which they registered. An agent that can
  /// display shows the passkeys of the notification `PairingShowPasskey`: observe it before.
  /// - Throws: `BledError.notPermitted`, `.invalidParameter`; and as `call`.
  public func answerPairings(with agent: PairingAgent) async throws(BluetoothError) {
    try Task.checkNotCancelled(PairingRegister.name)
    let number = core.newAgentCall()
    _ = try await core.call(
      PairingRegister.self, .init(capability: agent.capability),
      undo: .made { [core] _ in core.restoreAgent(after: number) }, arrived: { [core] _ in core.answer(with: agent) })
  }

  /// The opposite of `answerPairings`.
  /// - Throws: As `call`.
  public func stopAnsweringPairings() async throws(BluetoothError) {
    try Task.checkNotCancelled(PairingUnregister.name)
    _ = core.newAgentCall()
    _ = try await core.call(
      PairingUnregister.self, Empty(), undo: .made { [core] _ in core.answer(with: nil) },
      arrived: { [core] _ in core.answer(with: nil) })
  }
}

extension ClientCore {
  /// Questions of the daemon go to this agent from now on; nil: they are refused.
  fileprivate func answer(with agent: PairingAgent?) {
    setAgent(agent?.capability)
    guard let agent else {
      answer(PairingConfirm.name, with: nil)
      answer(PairingEnterPasskey.name, with: nil)
      return
    }
    answer(PairingConfirm.name) { [weak self] message, id in
      self?.params(of: message, id) { (core, params: PairingConfirm.Params) in
        let answer = RequestAnswer(core: core, id: id)
        Task { answer.succeed(PairingConfirm.Result(accept: await agent.confirm(params))) }
      }
    }
    answer(PairingEnterPasskey.name) { [weak self] message, id in
      self?.params(of: message, id) { (core, params: PairingEnterPasskey.Params) in
        let answer = RequestAnswer(core: core, id: id)
        Task { answer.succeed(PairingEnterPasskey.Result(passkey: await agent.enterPasskey(params))) }
      }
    }
  }
}

extension Peripheral {
  /// Encrypts the link with the keys of an earlier pairing, or pairs.
  /// - Parameter level: The level that the link must have; encrypted if nil.
  /// - Returns: The level reached; the keys are stored.
  /// - Throws: `GAPError.pairingFailed`; `BledError.notPermitted`; and as `BledClient.call`.
  public func pair(level: SecurityLevel? = nil) async throws(BluetoothError) -> PeripheralPair.Result {
    try await client.call(PeripheralPair.self, .init(peripheral: identifier, level: level))
  }
}
