import Adapter
import BledRPC
import Bluetooth
import Fuzzing
import SessionTestSupport

extension ScriptedDaemon {
  /// An answer that all programs of the socket understand: one device with a heart rate service.
  /// - Returns: nil for methods whose result is empty.
  package static func answer(_ method: String, peripheral: String) -> Answer? {
    switch method {
    case PeripheralConnect.name:
      return .success(
        PeripheralConnect.Result(
          peripheral: peripheral, address: "C0:DE:00:00:00:04", addressType: "random", adapter: "hci0", mtu: 247,
          attempts: 1))
    case GATTDiscover.name:
      let descriptor = DescriptorDescription(handle: 4, uuid: 0x2902)
      let characteristic = CharacteristicDescription(
        handle: 3, end: 4, uuid: 0x2A37, properties: ["notify"], descriptors: [descriptor])
      return .success(
        GATTServices(services: [
          ServiceDescription(handle: 1, end: 9, uuid: 0x180D, primary: true, characteristics: [characteristic])
        ]))
    case GATTRead.name: return .success(GATTRead.Result(value: HexBytes([1])))
    default: return nil
    }
  }

  /// The newest session that is open.
  package var newest: Session? { sessions.last { !$0.isClosed } }

  /// bled goes, with all sessions, or is there again.
  package func leaveOrReturn() {
    isGone.toggle()
    if isGone { for session in sessions where !session.isClosed { session.end() } }
  }

  /// Runs until nothing is due at this time.
  package func settle(_ clock: VirtualScheduler) {
    var steps = 0
    repeat {
      clock.advance(by: .zero)
      steps += 1
      invariant(steps < 100_000, "it does not come to rest")
    } while deliver()
  }
}

extension ScriptedDaemon.Session {
  /// Tells of a value, or of a change of the link or the services.
  package func tell(_ peripheral: String, _ input: inout FuzzInput) throws {
    switch input.number(below: 5) {
    case 0, 1:
      try notify(
        GATTValue.self, GATTValue.Params(peripheral: peripheral, handle: 3, value: HexBytes(input.packet())))
    case 2:
      try notify(PeripheralDisconnected.self, PeripheralDisconnected.Params(peripheral: peripheral, reason: nil))
    case 3:
      try notify(GATTServicesChanged.self, GATTServicesChanged.Params(peripheral: peripheral, start: 1, end: 9))
    default:
      try notify(
        GATTSubscriptionLost.self,
        GATTSubscriptionLost.Params(
          peripheral: peripheral, handle: 3, reason: RPCError(BledError.tooSlow.error("too slow"))))
    }
  }
}
