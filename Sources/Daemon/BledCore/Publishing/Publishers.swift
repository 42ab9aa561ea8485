/// The users publishing services or advertising.
final class Publishers: PublishingUsers {
  private unowned let server: ServerBroker
  private unowned let advertising: AdvertisingBroker

  init(_ server: ServerBroker, _ advertising: AdvertisingBroker) {
    self.server = server
    self.advertising = advertising
  }

  func users(on slot: AdapterSlot) -> [UInt32?] {
    var users: [UInt32?] = []
    for user in server.users + advertising.users(on: slot) where !users.contains(user) { users.append(user) }
    return users
  }
}
