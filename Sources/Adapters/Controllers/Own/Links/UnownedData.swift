import Adapter
import Bluetooth
import HCI
import Host

/// The data of absent links: they are kept for a while (`EarlyData`), or dropped, and free their room.
final class UnownedData {
  private let room: HostRoom
  private let context: AdapterContext
  private var early = EarlyData()
  /// Rings when packets have been kept too long.
  private var alarm: (any ScheduledWork)?

  init(_ room: HostRoom, in context: AdapterContext) {
    self.room = room
    self.context = context
  }

  /// The controller is set up or was removed: nothing is kept.
  func reset() {
    early = EarlyData()
    arm()
  }

  /// A packet of no known link arrived at this time.
  func receive(_ packet: ACLDataPacket, at arrival: Instant) {
    drop(early.keep(packet, at: arrival))
    arm()
  }

  /// A link was established.
  /// - Returns: its packets, in order.
  func take(_ handle: ConnectionHandle) -> [ACLDataPacket] {
    let (packets, old) = early.take(handle, at: context.scheduler.now)
    drop(old)
    arm()
    return packets
  }

  /// A link of this handle has ended; its event arrived at this time.
  func linkEnded(_ handle: ConnectionHandle, at arrival: Instant) {
    early.ended(handle, at: arrival)
    arm()
  }

  private func drop(_ packets: [ACLDataPacket]) {
    for packet in packets {
      room.dropped(on: packet.handle)
      context.logger.debug("data of no link were dropped", metadata: ["handle": "\(packet.handle)"])
    }
  }

  private func arm() {
    context.arm(&alarm, at: early.deadline) { [weak self] now in
      guard let self else { return }
      drop(early.expire(at: now))
      arm()
    }
  }
}
