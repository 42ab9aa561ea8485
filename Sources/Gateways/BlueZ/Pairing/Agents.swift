import BledRPC
import Bluetooth

/// The agents of the programs (BlueZ, org.bluez.Agent): bled asks the session of a program with an agent, and the agent
/// answers. bled's policy selects one of several.
final class Agents {
  private struct Agent {
    let path: String
    let capability: PairingCapability
  }

  private static let interface = "org.bluez.Agent1"

  private let context: Context
  private let devices: Devices
  private let identification: Identification
  /// By the unique name of the program.
  private var agents: [String: Agent] = [:]
  /// The devices of bled that each program's agent is being asked about.
  private var questions: [String: [String]] = [:]

  init(_ context: Context, _ devices: Devices, _ identification: Identification) {
    self.context = context
    self.devices = devices
    self.identification = identification
  }

  func unregister(_ call: BusCall, _ client: BusClient) {
    guard isRegistered(call, client) else { return context.fail(call, .doesNotExist) }
    agents[client.name] = nil
    client.session.call(PairingUnregister.self, Empty()) { [context] _ in context.reply(call) }
  }

  /// bled asks the users concerned; there is no default beside them.
  func requestDefault(_ call: BusCall, _ client: BusClient) {
    if isRegistered(call, client) { context.reply(call) } else { context.fail(call, .doesNotExist) }
  }

  private func isRegistered(_ call: BusCall, _ client: BusClient) -> Bool {
    guard let path = call.arguments[0].path else { return false }
    return agents[client.name]?.path == path
  }

  func register(_ call: BusCall, _ client: BusClient) {
    guard let path = call.arguments[0].path else { return context.fail(call, .invalidArguments) }
    guard agents[client.name] == nil else { return context.fail(call, .alreadyExists) }
    guard let capability = Self.capability(call.arguments[1].string ?? "") else {
      return context.fail(call, .invalidArguments)
    }
    agents[client.name] = Agent(path: path, capability: capability)
    client.session.call(PairingRegister.self, PairingRegister.Params(capability: capability)) {
      [weak self, context] result in
      if case .failure = result { self?.agents[client.name] = nil }
      context.finish(call, result.mapError { BusError($0, otherwise: .failed($0.message)) })
    }
  }

  /// The capability of BlueZ's word.
  private static func capability(_ word: String) -> PairingCapability? {
    switch word {
    case "", "KeyboardDisplay": .keyboardDisplay
    case "DisplayOnly": .display
    case "DisplayYesNo": .displayYesNo
    case "KeyboardOnly": .keyboard
    case "NoInputNoOutput": PairingCapability.none
    default: nil
    }
  }

  /// bled is available again.
  func resume(_ client: BusClient) {
    guard let agent = agents[client.name] else { return }
    client.session.callUnawaited(PairingRegister.self, PairingRegister.Params(capability: agent.capability))
  }

  func left(_ client: BusClient) {
    agents[client.name] = nil
    questions[client.name] = nil
  }

  // MARK: Questions

  /// bled asks whether to pair.
  func confirm(_ params: PairingConfirm.Params, _ id: RequestID, _ client: BusClient) {
    let device = params.device
    guard let number = params.number else {
      // This side began, and no keys are replaced: Pair was the answer.
      if device.isOurs, device.bondLevel == nil {
        return client.session.answer(id, PairingConfirm.Result(accept: true))
      }
      return ask(client, device, "RequestAuthorization", [], seconds: params.seconds) {
        client.session.answer(id, PairingConfirm.Result(accept: (try? $0.get()) != nil))
      }
    }
    ask(client, device, "RequestConfirmation", [.uint32(UInt32(number) ?? 0)], seconds: params.seconds) {
      client.session.answer(id, PairingConfirm.Result(accept: (try? $0.get()) != nil))
    }
  }

  /// bled asks for the passkey that a device shows.
  func enter(_ params: PairingEnterPasskey.Params, _ id: RequestID, _ client: BusClient) {
    ask(client, params.device, "RequestPasskey", [], seconds: params.seconds) { result in
      let passkey = (try? result.get())?.first?.integer.flatMap { (0...999_999).contains($0) ? $0 : nil }
      client.session.answer(id, PairingEnterPasskey.Result(passkey: passkey.map(Self.digits)))
    }
  }

  private static func digits(_ passkey: Int) -> String {
    let text = String(passkey)
    return String(repeating: "0", count: 6 - text.count) + text
  }

  /// bled has a passkey shown.
  func show(_ params: PairingShowPasskey.Params, _ client: BusClient) {
    let peripheral = params.device.peripheral
    begin(peripheral, client)
    identification.identify(peripheral) { [self] in
      guard let agent = agents[client.name], let path = path(peripheral, for: client) else { return }
      let values: [BusValue] = [
        .path(path), .uint32(UInt32(params.passkey) ?? 0), .uint16(UInt16(clamping: params.entered)),
      ]
      context.flush()
      context.bus.call(
        client.name, agent.path, Self.interface, "DisplayPasskey", values, timeout: .seconds(25)
      ) { _ in }
    }
  }

  /// A pairing has ended: an agent with an open question need not answer.
  func ended(_ params: PairingEnded.Params, _ client: BusClient) {
    guard end(params.device.peripheral, client), let agent = agents[client.name] else { return }
    context.bus.call(client.name, agent.path, Self.interface, "Cancel", [], timeout: .seconds(25)) { _ in }
  }

  private func ask(
    _ client: BusClient, _ device: PairingDevice, _ method: String, _ values: [BusValue], seconds: Int,
    _ answer: @escaping (Result<[BusValue], BusError>) -> Void
  ) {
    let peripheral = device.peripheral
    begin(peripheral, client)
    identification.identify(peripheral) { [self] in
      guard let agent = agents[client.name], let path = path(peripheral, for: client) else {
        _ = end(peripheral, client)
        return answer(.failure(.doesNotExist))
      }
      context.flush()
      context.bus.call(
        client.name, agent.path, Self.interface, method, [.path(path)] + values, timeout: .seconds(seconds)
      ) { [weak self] result in
        _ = self?.end(peripheral, client)
        answer(result)
      }
    }
  }

  private func begin(_ peripheral: String, _ client: BusClient) {
    if questions[client.name]?.contains(peripheral) != true { questions[client.name, default: []].append(peripheral) }
  }

  private func end(_ peripheral: String, _ client: BusClient) -> Bool {
    guard let index = questions[client.name]?.firstIndex(of: peripheral) else { return false }
    questions[client.name]?.remove(at: index)
    return true
  }

  /// The object of a device in a program's question; nil if it has none, or its pairing has ended meanwhile.
  private func path(_ peripheral: String, for client: BusClient) -> String? {
    guard questions[client.name]?.contains(peripheral) == true else { return nil }
    return devices.all(peripheral).first?.path
  }
}
