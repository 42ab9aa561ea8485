import Adapter

/// The sessions that are asked when a device pairs, in the order in which they registered.
struct PairingAgents {
  private var agents: [(session: Session, capability: PairingCapability)] = []

  /// What a person can do at the first of them.
  var capability: PairingCapability? { agents.first?.capability }

  /// All of them.
  var sessions: [Session] { agents.map(\.session) }

  /// What a person can do at a session; nil if it is not one of them.
  func capability(of session: Session) -> PairingCapability? { agents.first { $0.session === session }?.capability }

  mutating func register(_ session: Session, _ capability: PairingCapability) {
    if let place = agents.firstIndex(where: { $0.session === session }) {
      agents[place].capability = capability
    } else {
      agents.append((session, capability))
    }
  }

  /// - Returns: whether it was one of them.
  mutating func remove(_ session: Session) -> Bool {
    let count = agents.count
    agents.removeAll { $0.session === session }
    return agents.count < count
  }

  /// Those who can answer a question, in the order in which they are asked: who caused it comes first.
  func answering(_ question: PairingQuestion, causedBy causes: [Session]) -> [Session] {
    let able = agents.filter { agent in
      guard agent.session.isPresent else { return false }
      return switch question {
      case .consent: true
      case .comparison: [.displayYesNo, .keyboardDisplay].contains(agent.capability)
      case .passkey: [.keyboard, .keyboardDisplay].contains(agent.capability)
      }
    }.map(\.session)
    return able.filter(causes.contains) + able.filter { !causes.contains($0) }
  }

  /// The one who is shown a passkey: who caused the pairing, else, if nobody did, the first who can show it.
  func showing(causedBy causes: [Session]) -> Session? {
    let able = agents.filter { $0.session.isPresent && ![.keyboard, .none].contains($0.capability) }.map(\.session)
    return able.first(where: causes.contains) ?? (causes.isEmpty ? able.first : nil)
  }
}
