import Adapter
import DequeModule

/// A device's listener that echoes packets. Its channel holds it.
package final class ChannelEcho {
  private weak var channel: (any Channel)?
  private var waiting: Deque<[UInt8]> = []

  @discardableResult
  package init(_ channel: any Channel) {
    self.channel = channel
    channel.onEvent = { [self] event in handle(event) }
    channel.isReading = true
  }

  private func handle(_ event: ChannelEvent) {
    guard let channel else { return }
    switch event {
    case .received(let packet):
      // The other side may accept shorter packets than it sends.
      var rest = packet[...]
      while !rest.isEmpty {
        waiting.append(Array(rest.prefix(channel.sendMTU)))
        rest = rest.dropFirst(channel.sendMTU)
      }
    case .writable: break
    case .ended: waiting.removeAll()
    }
    while channel.isWritable, let packet = waiting.popFirst() { channel.send(packet) }
    channel.isReading = waiting.isEmpty
  }
}
