import Adapter
import Bluetooth

/// The sessions that answer pairing questions, oldest registration first. A session without a program answers nothing
/// until the program is back.
struct PairingAgents {
  private var agents: [(session: Session, capability: PairingCapability)] = []

  private var present: [(session: Session, capability: PairingCapability)] { agents.filter(\.session.isPresent) }

  mutating func register(_ session: Session, _ capability: PairingCapability) {
    if let place = agents.firstIndex(where: { $0.session === session }) {
      agents[place].capability = capability
    } else {
      agents.append((session, capability))
    }
  }

  /// - Returns: true if it was registered.
  mutating func remove(_ session: Session) -> Bool {
    let count = agents.count
    agents.removeAll { $0.session === session }
    return agents.count < count
  }

  /// The agents of a pairing in the order of questions: the sessions causing it, the other sessions of the users
  /// concerned, then the agents trusted with all pairings.
  func concerned(_ concern: PairingConcern) -> [Session] { ordered(concern).map(\.session) }

  /// The agents of a pairing that can answer a question.
  func answering(_ question: PairingQuestion, _ concern: PairingConcern) -> [Session] {
    ordered(concern).filter { $0.capability.canAnswer(question) }.map(\.session)
  }

  /// The pairing's first agent that can show a passkey.
  func showing(_ concern: PairingConcern) -> Session? {
    ordered(concern).first { $0.capability.canShow }?.session
  }

  /// The first agent's capability; nil without any.
  func capability(_ concern: PairingConcern) -> PairingCapability? { ordered(concern).first?.capability }

  /// The capability announced to connecting devices: that of the first agent trusted with all pairings, else the
  /// highest among the publishing users, so that none of them can lower it for the others. Nil without any.
  func capability(amongPublishers users: [UInt32?]) -> PairingCapability? {
    let present = present
    if let trusted = present.first(where: { $0.session.answersForOthers }) { return trusted.capability }
    return present.filter { users.contains($0.session.user) }.map(\.capability).max { $0.rank < $1.rank }
  }

  private func ordered(_ concern: PairingConcern) -> [(session: Session, capability: PairingCapability)] {
    func place(_ session: Session) -> Int? {
      if let place = concern.causes.firstIndex(where: { $0 === session }) { return place }
      if let place = concern.users.firstIndex(of: session.user) { return concern.causes.count + place }
      return session.answersForOthers ? concern.causes.count + concern.users.count : nil
    }
    return present.enumerated().compactMap { index, agent in
      place(agent.session).map { (place: ($0, index), agent: agent) }
    }.sorted { $0.place < $1.place }.map(\.agent)
  }
}

extension Session {
  /// True if the policy lets it answer pairings that concern others.
  var answersForOthers: Bool { rules.permissions(of: self).contains(.agent) }
}

extension PairingCapability {
  fileprivate func canAnswer(_ question: PairingQuestion) -> Bool {
    switch question {
    case .consent: true
    case .comparison: self == .displayYesNo || self == .keyboardDisplay
    case .passkey: self == .keyboard || self == .keyboardDisplay
    }
  }

  fileprivate var canShow: Bool { self != .keyboard && self != .none }

  /// By the pairing's protection, and then by the available methods.
  fileprivate var rank: Int {
    switch self {
    case .none: 0
    case .display: 1
    case .keyboard: 2
    case .displayYesNo: 3
    case .keyboardDisplay: 4
    }
  }
}
