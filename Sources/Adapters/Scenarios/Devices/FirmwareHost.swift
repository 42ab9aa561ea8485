import Adapter
import Bluetooth
import MCUmgr
import ScenarioRules

/// Runs MCUmgr's server of a simulated device: its answers leave in packets, as the link has room.
package final class FirmwareHost {
  /// Sends a packet; false if there is no room for it.
  package var send: ([UInt8]) -> Bool = { _ in false }
  /// Octets of a packet.
  var packetLength: () -> Int = { 20 }
  /// Ends the link.
  package var disconnect: () -> Void = {}
  /// The device is away for so long.
  package var restart: (Duration) -> Void = { _ in }

  /// The maximum of packets that wait for room, besides the last answer's.
  private static let mostWaiting = 1024

  private let context: SimulationContext
  private let restartTime: TimeSpan
  private var server: FirmwareServer
  private var generator: SeededGenerator
  private var packets: [[UInt8]] = []
  private var isRestarting = false
  /// The number of the link: late answers are those of another one.
  private var link = 0

  package init(_ description: FirmwareDescription, of address: DeviceAddress, in context: SimulationContext) {
    self.context = context
    restartTime = description.restartTime
    generator = context.generator(Stream.firmware.of(address))
    server = FirmwareServer(description, generator: context.generator(Stream.firmware.of(address, 1)))
  }

  package func received(_ packet: [UInt8]) {
    for action in server.received(packet) {
      switch action {
      case .answer(let frame, let delay):
        // Also one without a delay: it does not leave from within the packet that it answers.
        context.scheduler.schedule(after: delay) { [weak self, link] in
          if let self, link == self.link { answer(frame) }
        }
      case .disconnect: disconnect()
      case .restart where isRestarting: break
      case .restart:
        isRestarting = true
        // Behind the answer.
        context.scheduler.schedule(after: .milliseconds(100)) { [weak self] in
          guard let self else { return }
          isRestarting = false
          server.restarted()
          restart(restartTime.draw(&generator))
        }
      }
    }
  }

  package func linkEnded() {
    link += 1
    packets = []
    server.linkEnded()
  }

  /// There is room on the link.
  func flush() {
    while let packet = packets.first, send(packet) { packets.removeFirst() }
  }

  private func answer(_ frame: ManagementFrame) {
    // A peer that does not read answers loses them.
    guard packets.count < Self.mostWaiting else { return }
    let octets = frame.encoded
    let length = max(packetLength(), 1)
    packets += stride(from: 0, to: octets.count, by: length).map {
      Array(octets[$0..<min($0 + length, octets.count)])
    }
    flush()
  }
}
