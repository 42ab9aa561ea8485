/// The users whom the pairing of a link concerns. Only their agents are asked, those of the first user first, and
/// then the agents that the policy trusts with the pairings of others (permission `agent`).
///
/// | The link            | concerns                                                                          |
/// |---------------------|-----------------------------------------------------------------------------------|
/// | any                 | first the users whose programs ask for security, last those that use the device    |
/// | of a device that    | the user whose attribute was refused to it; if none was, those that serve it;      |
/// | connected to us     | if nobody does, those that publish services or advertise on the adapter            |
struct PairingConcern {
  /// The sessions that ask for security, in the order in which they did.
  let causes: [Session]
  /// The users, those who decide first; nil stands for programs without known credentials.
  let users: [UInt32?]

  init(causes: [Session], others: [UInt32?]) {
    self.causes = causes
    var users: [UInt32?] = []
    for user in causes.map(\.user) + others where !users.contains(user) { users.append(user) }
    self.users = users
  }

  /// Whether a user has a say in it.
  func includes(_ user: UInt32?) -> Bool { users.contains(user) }
}
