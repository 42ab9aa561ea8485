import BledRPC
import Bluetooth

/// A channel being opened for a session. As long as the broker has it, it counts, and its reply is due.
final class ChannelOpening {
  let session: Session
  let hub: LinkHub
  let reply: Reply<ChannelDescription>

  init(for session: Session, on hub: LinkHub, _ reply: Reply<ChannelDescription>) {
    self.session = session
    self.hub = hub
    self.reply = reply
  }
}
