import ATT
import Adapter
import Bluetooth
import ScenarioRules

/// The faults of a connected device: it answers late or with errors, falls silent, sends invalid packets, changes its
/// services.
package final class Misbehaviour {
  /// Called for each change of the services.
  var changeServices: (() -> Void)?
  /// The delay of each packet's processing.
  package var responseDelay: TimeSpan

  private let context: SimulationContext
  private var faults: DeviceDescription.Faults
  private var answers: AnswerFaults
  private var generator: SeededGenerator
  private var responses: SeededGenerator
  private var alarm: (any ScheduledWork)?
  private var isConnected = false
  /// The time at which it falls silent on this link.
  private var silence: Instant?

  package init(_ description: DeviceDescription, in context: SimulationContext) {
    faults = description.faults
    answers = AnswerFaults(faults.answers)
    responseDelay = description.responseDelay
    self.context = context
    generator = context.generator(Stream.faults.of(description.address))
    responses = context.generator(Stream.responses.of(description.address))
  }

  /// Replaces the device's faults, on its link from this moment on.
  package func change(_ faults: DeviceDescription.Faults) {
    self.faults = faults
    answers = AnswerFaults(faults.answers)
    if isConnected { linkIsUp() }
  }

  /// A link was established.
  func linkIsUp() {
    isConnected = true
    silence = faults.mute.map { context.scheduler.now.advanced(by: $0.draw(&generator)) }
    setAlarm()
  }

  /// The link has ended.
  func linkIsDown() {
    isConnected = false
    alarm?.cancel()
    alarm = nil
  }

  private func setAlarm() {
    alarm?.cancel()
    alarm = nil
    guard let time = faults.changeServices?.draw(&generator) else { return }
    alarm = context.scheduler.schedule(after: max(time, .milliseconds(1))) { [weak self] in
      self?.changeServices?()
      self?.setAlarm()
    }
  }

  /// The reception of a packet from the peer.
  /// - Parameter characteristic: the characteristic with the handle of a value.
  package func reception(_ packet: [UInt8], _ characteristic: (UInt16) -> BluetoothUUID?) -> GATTHost.Reception {
    var reception = GATTHost.Reception(delay: responseDelay.draw(&responses))
    guard !faults.answers.isEmpty, let request = AnswerFault.Request(packet),
      let uuid = characteristic(UInt16(packet[1]) | UInt16(packet[2]) << 8),
      let answer = answers.answer(request, of: uuid, &generator)
    else { return reception }
    reception.delay += answer.delay
    reception.error = answer.error.map { ATTErrorCode(rawValue: $0) }
    return reception
  }

  /// The packet to send in place of this one; nil for none.
  func distort(_ packet: [UInt8]) -> [UInt8]? {
    if let silence, silence <= context.scheduler.now { return nil }
    guard generator.chance(faults.nonsense) else { return packet }
    // As long as the packet it replaces, so that it fits the link.
    return packet.map { _ in UInt8(truncatingIfNeeded: generator.next()) }
  }
}

extension AnswerFault.Request {
  /// The request in a packet, if it has one handle.
  fileprivate init?(_ packet: [UInt8]) {
    guard let opcode = packet.first, packet.count >= 3 else { return nil }
    switch ATTOpcode(rawValue: opcode) {
    case .readRequest, .readBlobRequest: self = .read
    case .writeRequest, .prepareWriteRequest: self = .write
    default: return nil
    }
  }
}

/// Drops notified values of one device, as if the adapter had no room for them.
package final class ValueLoss {
  /// The probability that a value is lost, 0 to 1.
  package var probability: Double
  private var generator: SeededGenerator

  package init(_ probability: Double, generator: SeededGenerator) {
    self.probability = probability
    self.generator = generator
  }

  /// True if this packet is a lost value. All others arrive: a link that lacks an answer is useless.
  package func drops(_ packet: [UInt8]) -> Bool {
    packet.first == ATTOpcode.handleValueNotification.rawValue && generator.chance(probability)
  }
}
