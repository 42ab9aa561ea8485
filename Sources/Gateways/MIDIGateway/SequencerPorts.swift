import Bluetooth
import BondedDevices
import MIDI

/// The ports of devices at ALSA's sequencer: each device is a client with one port. Messages of devices are passed on
/// at their times, by the clock, not by a queue of the sequencer: programs see events that take place now.
package final class SequencerPorts: DeviceSystem {
  package typealias Device = MIDIDevice

  package static let name = "MIDI"
  package static let kind = "MIDI devices"

  /// The messages that wait for their time; before further ones the oldest are passed on.
  private static let mostDue = 1024

  private struct Port {
    let file: any SequencerFile
    let received: (MIDIDevice.Event) -> Void
    var playout: MIDIPlayout
    /// In the order of their times.
    var due: [(time: Instant, message: MIDIMessage)] = []
    var alarm: (any ScheduledWork)?
  }

  private let clock: any Scheduler
  private let sequencer: any SequencerFiles
  private var ports: [DeviceAddress: Port] = [:]

  package init(_ sequencer: any SequencerFiles, _ clock: any Scheduler) {
    self.sequencer = sequencer
    self.clock = clock
  }

  package func perform(
    _ request: MIDIDevice.Output, of device: DeviceAddress, _ received: @escaping (MIDIDevice.Event) -> Void
  ) -> DeviceOutcome<MIDIDevice.Event> {
    switch request {
    case .open(let name, let delay): return open(name, delay, device, received)
    case .setDelay(let delay): ports[device]?.playout.delay = delay
    case .play(let events): play(events, device)
    case .release(let messages):
      send(device) { _ in true }
      for message in messages { send(message, device) }
    case .setReading(let isReading): ports[device]?.file.isReading = isReading
    case .close: close(ports.removeValue(forKey: device))
    }
    return .done
  }

  package func close() {
    for port in ports.values { close(port) }
    ports = [:]
  }

  private func close(_ port: Port?) {
    port?.alarm?.cancel()
    port?.file.close()
  }

  private func open(
    _ name: String, _ delay: Duration, _ device: DeviceAddress, _ received: @escaping (MIDIDevice.Event) -> Void
  ) -> DeviceOutcome<MIDIDevice.Event> {
    let playout = MIDIPlayout(delay: delay)
    guard ports[device] == nil else {
      // The clock of a device may begin anew with a link.
      ports[device]?.playout = playout
      return .opened
    }
    do throws(SequencerFailure) {
      let file = try sequencer.open(name) { [weak self] in self?.received($0, received) }
      ports[device] = Port(file: file, received: received, playout: playout)
      return .opened
    } catch {
      return .refused(error.description, .refused)
    }
  }

  private func received(_ input: SequencerInput, _ give: (MIDIDevice.Event) -> Void) {
    switch input {
    case .events(let octets):
      let messages = SequencerEvent.messages(in: octets)
      let now = UInt16(max(clock.now.nanoseconds, 0) / 1_000_000 % Int64(MIDIEvent.timestamps))
      if !messages.isEmpty { give(.messages(messages, at: now)) }
    case .lost: give(.lost)
    }
  }

  // MARK: Messages of devices

  private func play(_ events: [MIDIEvent], _ device: DeviceAddress) {
    guard var port = ports[device] else { return }
    let now = clock.now
    for event in events {
      port.due.append((port.playout.time(of: event.timestamp, arrived: now), event.message))
    }
    let excess = port.due.count - Self.mostDue
    ports[device] = port
    var sent = 0
    send(device) {
      sent += 1
      return $0 <= now || sent <= excess
    }
  }

  /// Passes on messages from the oldest on, while `isDue` says so.
  private func send(_ device: DeviceAddress, while isDue: (Instant) -> Bool) {
    guard let due = ports[device]?.due else { return }
    let ready = due.prefix { isDue($0.time) }
    ports[device]?.due.removeFirst(ready.count)
    for item in ready { send(item.message, device) }
    ports[device]?.alarm?.cancel()
    ports[device]?.alarm = due.dropFirst(ready.count).first.map { next in
      clock.schedule(at: next.time) { [weak self] in
        guard let self else { return }
        let now = clock.now
        send(device) { $0 <= now }
      }
    }
  }

  private func send(_ message: MIDIMessage, _ device: DeviceAddress) {
    guard let port = ports[device], let event = SequencerEvent.octets(of: message, from: port.file.port) else { return }
    if !port.file.send(event) { clock.execute { port.received(.overrun) } }
  }
}
