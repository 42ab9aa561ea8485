/// The users concerned by the pairing of a link. Only their agents receive questions, the first user's first, and then
/// the agents trusted by the policy with others' pairings (permission `agent`).
///
/// | The link            | concerns                                                                          |
/// |---------------------|-----------------------------------------------------------------------------------|
/// | any                 | first the users with programs that ask for security, last the users of the device  |
/// | of a device that    | the user with the attribute refused to it; if none was, the users that serve it;   |
/// | connected to us     | if none does, the users that publish services or advertise on the adapter          |
struct PairingConcern {
  /// The sessions that requested security, oldest first.
  let causes: [Session]
  /// The users, in the order of their right to decide; nil stands for programs without known credentials.
  let users: [UInt32?]

  init(causes: [Session], others: [UInt32?]) {
    self.causes = causes
    var users: [UInt32?] = []
    for user in causes.map(\.user) + others where !users.contains(user) { users.append(user) }
    self.users = users
  }

  /// True if the user may decide.
  func includes(_ user: UInt32?) -> Bool { users.contains(user) }
}
