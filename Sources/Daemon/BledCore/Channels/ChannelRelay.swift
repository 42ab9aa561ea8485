import Adapter
import Bluetooth

/// Carries packets between a channel and its program; `RelayMachine` decides.
final class ChannelRelay {
  /// Maximum packets and octets passed on before others have their turn.
  private static let burst = (packets: 16, octets: 64 << 10)

  let channel: any Channel
  private var machine = RelayMachine()
  private var program: (any ProgramEnd)?
  /// Called once at the end, with the reason unless the program ended it.
  private let onEnd: (BluetoothError?) -> Void
  private var hasEnded = false

  init(_ channel: any Channel, onEnd: @escaping (BluetoothError?) -> Void) {
    self.channel = channel
    self.onEnd = onEnd
    channel.onEvent = { [weak self] event in self?.handle(event) }
  }

  /// The program is connected: octets pass from now on.
  func attach(_ program: any ProgramEnd) {
    guard !hasEnded, self.program == nil else { return program.close() }
    self.program = program
    program.onReady = { [weak self] in self?.programIsReady() }
    machine.attached()
    apply()
  }

  /// Ends the device's side; the program still gets earlier packets, then the end.
  func end(_ reason: BluetoothError) {
    guard !hasEnded else { return }
    channel.close()
    handle(.ended(reason))
  }

  /// Ends both sides without a report.
  func close() {
    guard !hasEnded else { return }
    hasEnded = true
    program?.close()
    channel.close()
  }

  private func handle(_ event: ChannelEvent) {
    guard !hasEnded else { return }
    switch event {
    case .received(let packet):
      machine.received(packet)
      write()
    case .writable:
      machine.sent(hasRoom: true)
      // The next packet has usually arrived already: it need not wait for the loop.
      read()
    case .ended(let reason): machine.deviceEnded(reason)
    }
    apply()
  }

  private func programIsReady() {
    guard !hasEnded else { return }
    write()
    read()
    if machine.awaitsGoing, program?.read(atMost: 1) == .gone { machine.programGone() }
    apply()
  }

  private func write() {
    while !machine.waiting.isEmpty, let program {
      guard let count = program.write(machine.waiting) else { return machine.programEndedReading() }
      guard count > 0 else { return }
      machine.wrote(count)
    }
  }

  private func read() {
    var octets = 0
    for _ in 0..<Self.burst.packets where machine.readsProgram && octets < Self.burst.octets {
      guard let program else { return }
      switch program.read(atMost: channel.sendMTU) {
      case .octets(let packet):
        octets += packet.count
        channel.send(packet)
        machine.sent(hasRoom: channel.isWritable)
      case .nothing: return
      case .endOfSending: machine.programEndedSending()
      case .gone: machine.programGone()
      case .tooLong(let count):
        let error = BledError.invalidParameter.error(
          "a packet of \(count) octets was written; the device takes \(channel.sendMTU) at the most")
        close()
        return onEnd(error)
      }
    }
  }

  /// Applies the machine's state.
  private func apply() {
    guard !hasEnded else { return }
    if let end = machine.end {
      close()
      if case .byDevice(let reason) = end { onEnd(reason) } else { onEnd(nil) }
      return
    }
    channel.isReading = machine.readsDevice
    program?.isReading = machine.readsProgram
    program?.awaitsRoom = machine.awaitsRoom
  }
}
